"""Scopes: which memory positions may be looked at."""

from torch import Tensor, nn

from regard.attention.slots import Allowed


class Global(nn.Module):
    """Every position where a source piece stands (Luong et al. 2015, section 3.1)."""

    def forward(self, steps: Tensor, query: Tensor, mask: Tensor) -> Allowed:  # noqa: ARG002 (the slot's shape)
        return Allowed(mask[:, None, None])  # B 1 1 S
