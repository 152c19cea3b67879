"""The strong SDP relaxation: ADMM, an interior-point method, and the bounds they prove."""
