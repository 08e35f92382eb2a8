"""The paper reproduced from its released data, number by number.

A. T. Chaganty, S. Mussmann and P. Liang (2018), The price of debiasing automatic metrics in natural
language evaluation, ACL.
"""

from steelyard.paper.page import write_page
from steelyard.paper.release import Release, read_release
from steelyard.paper.reproduction import Reproduction, reproduce

__all__ = ["Release", "Reproduction", "read_release", "reproduce", "write_page"]
