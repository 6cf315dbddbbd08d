"""Deep Continuous Networks: Gaussian derivatives, SRF convolution, vector fields, solver, networks, checkpoints."""
