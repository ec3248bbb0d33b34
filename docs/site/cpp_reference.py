"""The C++ reference as Markdown, from the headers: a page per room, an entry per documented declaration.

Headers follow one layout (`.clang-format`, `///` above or `///<` after a declaration), so a scanner of brackets and
comments is enough; Doxygen would be one more system package for the same text.
"""

import itertools
import pathlib
import re

from markup import escaped, markdown

INTERNAL = re.compile(r"test_|_test|^random_")


def split_declarators(text: str) -> list[str]:
    """`double a, b` in two, at the commas outside `<>` and `()`."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


class Scanner:
    """Declarations of one header in order: (kind, scope, declaration, comment, members)."""

    def __init__(self, text):
        text = re.sub(r"\\\n", " ", text)
        self.text = "\n".join("" if line.lstrip().startswith("#") else line for line in text.splitlines()) + "\n"
        self.at, self.found = 0, []

    def skip_block(self):
        """Past the bracket that closes the one at `at`."""
        depth = 0
        while self.at < len(self.text):
            if self.text.startswith("//", self.at):
                self.at = self.text.find("\n", self.at)
            letter = self.text[self.at]
            depth += (letter == "{") - (letter == "}")
            self.at += 1
            if depth == 0:
                return

    def trailing(self):
        """The comment `///<` on the rest of this line and on comment lines that go on with it."""
        line = self.text[self.at : self.text.find("\n", self.at)]
        found = re.match(r"\s*///<\s*(.*)", line)
        if not found:
            return ""
        self.at += len(line)
        following = self.text[self.at + 1 : self.text.find("\n", self.at + 1)]
        more = ""
        if re.match(r"\s*///<", following):
            self.at += 1
            more = "\n" + self.trailing()
        return found.group(1) + more

    def scan(self, scope=(), public=True):
        comment, declaration = [], ""
        depth = 0  # of round brackets
        while self.at < len(self.text):
            rest = self.text[self.at :]
            if found := re.match(r"[ \t]*///(?!<)[ ]?(.*)\n?", rest):
                comment.append(found.group(1))
                self.at += found.end()
                continue
            if rest.startswith("//"):
                self.at += rest.find("\n")
                if not declaration.strip():
                    comment = []
                continue
            letter = rest[0]
            if not declaration.strip() and (found := re.match(r"\s*(public|private|protected):", rest)):
                public, declaration = found.group(1) == "public", ""
                self.at += found.end()
                continue
            if not declaration.strip() and rest.startswith("\n\n"):
                comment = []
            depth += (letter == "(") - (letter == ")")
            if letter == "}" and depth == 0:
                self.at += 1
                return
            if letter == ";" and depth == 0:
                self.at += 1
                comment = [*comment, self.trailing()]
                self.add(scope, declaration, comment, public)
                comment, declaration = [], ""
            elif letter == "{" and depth == 0:
                comment, declaration, public_block = self.block(scope, declaration, comment, public)
                public = public_block
            else:
                declaration += letter
                self.at += 1

    def block(self, scope, declaration, comment, public):
        """What opens a bracket: a namespace, a type, the body of a function, or a value."""
        words = " ".join(declaration.split())
        if found := re.match(r"(?:inline )?namespace ?([\w:]*)", words):
            self.at += 1
            hidden = found.group(1) in ("", "detail")
            self.scan((*scope, found.group(1)), public and not hidden)
            return [], "", public
        if found := re.search(r"^(?:template ?<.*?> ?)?(struct|class) (?:\[\[\w+\]\] )?(\w+)", words):
            kind, outer, members = found.group(1), self.found, []
            self.at, self.found = self.at + 1, members
            self.scan((*scope, found.group(2)), public and kind == "struct")
            self.found = outer
            self.add(scope, words.split(" :")[0], comment, public, kind, members)
            return [], "", public
        if words.startswith("enum"):
            start = self.at
            self.skip_block()
            values = re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", self.text[start + 1 : self.at - 1])).strip(" ,")
            self.add(
                scope,
                words.split(" :")[0],
                [*comment, *(["", f"Values: `{values}`"] if values else [])],
                public,
                "enum",
            )
            return [], "", public
        self.skip_block()
        if re.match(r"\s*;", self.text[self.at :]) or words.endswith("="):  # a value in brackets
            return comment, declaration, public
        if re.match(r"\s*[,{]", self.text[self.at :]):  # a constructor's initialisers
            return comment, declaration, public
        self.add(scope, re.sub(r"\) ?(const)?(?: noexcept)? ?:[^:].*$", r") \1", words), comment, public)
        return [], "", public

    def add(self, scope, declaration, comment, public, kind=None, members=()):
        words = " ".join(declaration.split())
        words = re.sub(r"STICTION_\w+ |\s*/\*.*?\*/", "", words)
        if (
            not public
            or not (text_of(comment) or members)
            or not words
            or re.match(r"using |friend |static_assert|extern|typedef", words)
        ):
            return
        words = re.sub(r"^inline constexpr ", "constexpr ", words)
        if "operator" in words or "~" in words or words.endswith("= delete"):
            return
        if kind is None:
            bare = re.sub(r"^template ?<[^>]*>", "", words).split("=")[0]
            while "<" in bare and (inner := re.sub(r"<[^<>]*>", "", bare)) != bare:
                bare = inner
            kind = "function" if "(" in bare and "(*" not in bare else "member"
        if kind == "member":  # of several on one line each is an entry
            first, *others = split_declarators(re.sub(r"\s*(= ?[^,]*|\{[^}]*\})(?=,|$)", "", words))
            kind_of = first.rsplit(" ", 1)[0]
            for words in [first, *(f"{kind_of} {other}" for other in others)]:
                self.found.append((kind, [part for part in scope if part], words, text_of(comment), members))
            return
        if kind == "function":
            words = re.sub(r" = default$| = 0$|^\[\[nodiscard\]\] ", "", words)
        self.found.append((kind, [part for part in scope if part], words, text_of(comment), members))


def text_of(comment):
    return "\n".join(comment).strip()


def header_comment(text):
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def prose_and_equations(text):
    """A header's comment: lines indented by two are equations and lists, shown as they are, the others are text."""
    out, is_item = [], False
    for literal, lines in itertools.groupby(text.splitlines(), key=lambda line: line.startswith("  ")):
        lines = list(lines)
        out += ["```text", *lines, "```"] if literal and not is_item else ["", *map(escaped, lines), ""]
        is_item = not literal and lines[-1].startswith("- ")
    return "\n".join(out)


def depth_of(members):
    return 1 + max(map(depth_of, (item[-1] for item in members)), default=0) if members else 0


def entry(kind, _scope, words, comment, members):
    """A directive, with those of its members inside."""
    words = re.sub(r"^(struct|class|enum class|enum) ", "", re.sub(r"(template ?<.*?>) (struct|class) ", r"\1 ", words))
    fence = ":" * (3 + depth_of(members))
    return "\n\n".join(
        [
            f"{fence}{{cpp:{'enum-class' if kind == 'enum' else kind}}} {words}",
            markdown(comment),
            *(entry(*m) for m in members),
            fence,
        ]
    )


def entries(items):
    """Declarations of a header, each in its namespace."""
    parts, current = [], None
    for item in items:
        if item[1] != current:
            current = item[1]
            parts.append(f"```{{cpp:namespace}} {'::'.join(current) or 'NULL'}\n```")
        parts.append(entry(*item))
    return parts


def room_page(room):
    title = f"# C++: `{room.name}`"
    parts = [title]
    for header in sorted(room.rglob("*.hpp")):
        text = header.read_text()
        if INTERNAL.search(header.name) or "Internal" in header_comment(text):
            continue
        scanner = Scanner(text)
        scanner.scan()
        parts.append(f"## `stiction/{header.relative_to(room.parent)}`")
        if about := header_comment(text):
            parts.append(prose_and_equations(about))
        parts += entries(scanner.found)
    return "\n\n".join(parts) + "\n" if len(parts) > 1 else None


def pages(source: pathlib.Path):
    """Text of each page by file name."""
    rooms = {f"cpp_{room.name}.md": room_page(room) for room in sorted(source.iterdir()) if room.is_dir()}
    rooms = {name: text for name, text in rooms.items() if text}
    return rooms
