"""The block's store: the one way by which a block is read and changed."""

from memory.block.store.block import Block, BlockStore, Precondition, Saved
from memory.block.store.lines import LineRecord, Origin

__all__ = ["Block", "BlockStore", "LineRecord", "Origin", "Precondition", "Saved"]
