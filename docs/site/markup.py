"""Plain text of docstrings and header comments as Markdown: code in back-quotes stays, the rest is literal."""

import re
import textwrap

SPECIAL = re.compile(r"([\\*_<>$\[\]{}|~^#])")
NAMED = re.compile(
    r"(?:[\w.]+(?: \([^)]*\))?, )*[a-zA-Z][\w.]*(?: \([^)]*\))?: "
)  # "M: ...", "q, v: ...", "force (3,): ..."


def escaped(line):
    """The line with everything escaped that Markdown reads as markup, but for `code`."""
    pieces = re.split(r"(`[^`]+`)", line)
    return "".join(
        piece if piece.startswith("`") and len(piece) > 1 else SPECIAL.sub(r"\\\1", piece) for piece in pieces
    )


def paragraphs(text):
    """Blocks between blank lines, each with whether it is indented, as equations and code are."""
    for block in re.split(r"\n[ \t]*\n", textwrap.dedent(text).strip("\n")):
        lines = block.splitlines()
        if lines:
            yield lines, all(line.startswith(("   ", "\t")) for line in lines)


def markdown(text):
    """A docstring: indented blocks are shown as they are, lines "name: meaning" become a list."""
    out = []
    for lines, is_literal in paragraphs(text):
        if is_literal:
            out.append("```text\n" + textwrap.dedent("\n".join(lines)) + "\n```")
            continue
        items, named = [], False
        for line in lines:
            if NAMED.match(line):
                items.append("- " + escaped(line))
                named = True
            elif named and items:
                items[-1] += " " + escaped(line.strip())
            else:
                items.append(escaped(line.strip()))
        out.append("\n".join(items))
    return "\n\n".join(out)
