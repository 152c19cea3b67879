"""Where z may lie besides ‖z‖₀ ≤ d: on the sphere or anywhere, of any sign or z ≥ 0."""
