"""The command line program: ``python -m rthiss join DATA --radius R``. Takes the place of this process."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    program = Path(__file__).parent / "bin" / "rthiss"
    os.execv(program, ["rthiss", *sys.argv[1:]])


if __name__ == "__main__":
    main()
