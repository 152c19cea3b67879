"""Kernels: settings that are fitted on the pooled training sample."""
