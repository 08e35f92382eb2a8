"""Texts in markdown, made by a grammar from a seed, as language models write them."""

import random

__all__ = ["CONSTRUCTS", "corpus"]

_WORDS = [
    "the",
    "answer",
    "is",
    "42",
    "because",
    "rain",
    "falls",
    "slowly",
    "on",
    "warm",
    "stones",
    "near",
    "a_small_house",
    "at",
    "5*3",
    "£",
    "é",
    "你好",
]
_CODE = ["x = [1, 2]\n\nprint(x)", "if a < b:\n    return '*no*'", "# not a heading\n- no list"]


class _Writer:
    """Writes blocks and lines; each construct by a method of its name."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def words(self, most=8):
        return " ".join(self.random.choices(_WORDS, k=self.random.randint(1, most)))

    def line(self, depth=0):
        kinds = [self.words, self.words]
        if depth < 2:
            inner = lambda: self.line(depth + 1)  # noqa: E731
            kinds += [
                lambda: f"**{inner()}**",
                lambda: f"*{inner()}*",
                lambda: f"_{inner()}_",
                lambda: f"***{self.words(3)}***",
                lambda: f"~~{inner()}~~",
                lambda: f"`{self.random.choice(['a*b*', '<b>', 'x_y_z'])}`",
                lambda: "``a ` b``",
                lambda: f"[{inner()}](https://example.org/{self.random.randint(1, 9)})",
                lambda: "<https://example.org/a?b=c&d>",
                lambda: f"![{self.words(2)}](picture.png)",
                lambda: r"\*stars\* \_lines\_ 1\. \# \`",
                lambda: "&lt;p&gt; &copy; &#35; &nosuch;",
                lambda: "<b>bold</b> <script>x()</script>",
                lambda: "2 * 3 * 4, snake_case_name",
                lambda: f"{self.words(3)}  \n{self.words(3)}",
                lambda: f"{self.words(3)}\\\n{self.words(3)}",
            ]
        return " ".join(self.random.choice(kinds)() for _ in range(self.random.randint(1, 3)))

    def paragraph(self, _depth):
        return "\n".join(self.line() for _ in range(self.random.randint(1, 3)))

    def heading(self, _depth):
        level = self.random.randint(1, 6)
        return self.random.choice(
            [f"{'#' * level} {self.line(1)}", f"{self.words()}\n===", f"{self.words()}\n---"]
        )

    def rule(self, _depth):
        return self.random.choice(["---", "***", "_ _ _", "- - -"])

    def fence(self, _depth):
        marks = self.random.choice(["```", "~~~", "````"])
        return f"{marks}{self.random.choice(['', 'python'])}\n{self.random.choice(_CODE)}\n{marks}"

    def indented(self, _depth):
        return _moved(self.random.choice(_CODE), "    ")

    def quotation(self, depth):
        inner = self.blocks(depth + 1, self.random.randint(1, 2))
        return "\n".join(f"> {line}".rstrip() for line in inner.split("\n"))

    def bullets(self, depth):
        mark = self.random.choice("-*+")
        return self.entries(depth, lambda _at: f"{mark} ")

    def numbers(self, depth):
        first, mark = self.random.choice([1, 1, 2, 7]), self.random.choice(".)")
        return self.entries(depth, lambda at: f"{first + at}{mark} ")

    def entries(self, depth, mark):
        gap = self.random.choice(["\n", "\n\n"])
        made = []
        for at in range(self.random.randint(2, 4)):
            text = self.line(1)
            if depth < 2 and self.random.random() < 0.5:
                kind = self.random.choice(["bullets", "numbers", "fence", "paragraph", "table"])
                between = "\n" if kind == "bullets" and self.random.random() < 0.6 else "\n\n"
                text += between + getattr(self, kind)(depth + 1)
            marked = mark(at)
            made.append(marked + _moved(text, " " * len(marked)).lstrip(" "))
        return gap.join(made)

    def table(self, _depth):
        columns = self.random.randint(2, 4)
        aligned = self.random.choices(["---", ":--", "--:", ":-:"], k=columns)
        rows = [[self.cell() for _ in range(columns)] for _ in range(self.random.randint(1, 4))]
        lines = [rows[0], aligned, *rows[1:]]
        ends = self.random.choice(["| {} |", "{}"])
        return "\n".join(ends.format(" | ".join(row)) for row in lines)

    def cell(self):
        return self.random.choice([self.words(2), f"**{self.words(2)}**", "`a`", r"a \| b"])

    def blocks(self, depth, count):
        kinds = CONSTRUCTS if depth < 2 else ("paragraph", "fence", "heading")
        return "\n\n".join(getattr(self, self.random.choice(kinds))(depth) for _ in range(count))


CONSTRUCTS = (
    *("paragraph", "heading", "rule", "fence", "indented", "quotation", "bullets", "numbers"),
    "table",
)


def corpus(size):
    """Return so many texts; each construct leads as many of them."""
    texts = []
    for seed in range(size):
        writer = _Writer(seed)
        first = getattr(writer, CONSTRUCTS[seed % len(CONSTRUCTS)])(0)
        texts.append(f"{first}\n\n{writer.blocks(0, writer.random.randint(1, 4))}")
    return texts


def _moved(text, by):
    return "\n".join(by + line if line else line for line in text.split("\n"))
