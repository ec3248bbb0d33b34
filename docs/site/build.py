#!/usr/bin/env python3
"""Builds the documentation: `./dev docs`, which installs what this needs first.

Gathers the pages of the checkout, pictures that the engine draws and the references made of stubs, headers and help
texts into one tree, has Sphinx make a site of it, warnings being errors, and refuses a site that would ask the network
for anything.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import cpp_reference
import pictures
import python_reference

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "docs/*.md",
    "docs/*.svg",
    "docs/*.jpg",
    "docs/*/*.md",
    "src/stiction/**/README.md",
    "cli/README.md",
    "python/README.md",
    "examples/hello.*",
)
CHILDREN = {"docs/laws.md": "laws/*", "docs/schemes.md": "schemes/*"}  # pages below a page
# What a page of the site may take from elsewhere is nothing; links that a reader follows are another matter.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|link(?![^>]*rel="(?:canonical|license)"))\b[^>]*(?:src|href)=["']?(?:https?:)?//|@import|url\(["']?(?:https?:)?//"""
)


INDEX = """# Reference

```{toctree}
:caption: Command and Python

command
python
```

```{toctree}
:caption: Modules of the package
:glob:

python_*
```

```{toctree}
:caption: C++, room by room
:glob:

cpp_*
```

```{toctree}
:caption: What each room is for
:glob:

../src/stiction/**
../cli/README
../python/README
```
"""


def write(file, text):
    """Leaves a file alone that says so already, so that Sphinx reads again only what changed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def with_figure(text, picture, caption):
    """The page with a figure below its first paragraph."""
    title, first, *rest = text.split("\n\n")
    figure = f":::{{figure}} {picture}\n:alt: {caption}\n\n{caption}\n:::"
    return "\n\n".join([title, first, figure, *rest])


def with_experiments(text, drawn):
    """docs/experiments.md with the figure of each experiment that has one."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    for k, part in enumerate(parts):
        name = part.split()[1]
        if k and name in drawn:
            caption = f"stiction experiment {name} --quick --plot {name}.svg"
            parts[k] = with_figure(part, f"pictures/experiment_{name}.svg", caption)
    return "".join(parts)


def gather(source, drawn):
    for pattern in PAGES:
        for page in CHECKOUT.glob(pattern):
            name = page.relative_to(CHECKOUT)
            if name.parts[:2] == ("docs", "site"):
                continue
            if page.suffix != ".md":
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(page, source / name)
                continue
            text = page.read_text()
            if children := CHILDREN.get(str(name)):
                text += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{children}\n```\n"
            if name.parts[:2] in pictures.CAPTIONS and len(name.parts) == 3:
                text = with_figure(text, f"../pictures/{name.stem}.svg", pictures.CAPTIONS[name.parts[:2]])
            if name == pathlib.Path("docs/experiments.md"):
                text = with_experiments(text, drawn)
            write(source / name, text)
    write(source / "index.md", (HERE / "index.md").read_text())


def command_reference():
    """What every subcommand says of itself."""
    command = pathlib.Path(sys.executable).with_name("stiction")

    def told(*words):
        return subprocess.run([command, *words, "--help"], capture_output=True, text=True, check=True).stdout.rstrip()

    top = told()
    names = re.findall(r"^  ([a-z]\w*) {2,}", top.split("Subcommands:")[1], re.MULTILINE)
    parts = ["# The command `stiction`", f"```text\n{top}\n```"]
    parts += [f"## `stiction {name}`\n\n```text\n{told(name)}\n```" for name in names]
    return "\n\n".join(parts) + "\n"


def write_font(file):
    """The font of formulas, STIX Two Math (SIL Open Font License, from ziamath), cut to what they use."""
    import ziamath
    from fontTools import subset

    options = subset.Options(flavor="woff", layout_features=["*"])
    font = subset.load_font(pathlib.Path(ziamath.__file__).parent / "fonts/STIXTwoMath-Regular.ttf", options)
    cut = subset.Subsetter(options)
    ranges = ((0x20, 0x17F), (0x2B0, 0x3FF), (0x2000, 0x23FF), (0x2A00, 0x2AFF), (0x1D400, 0x1D7FF))
    cut.populate(unicodes=[code for first, last in ranges for code in range(first, last + 1)])
    cut.subset(font)
    subset.save_font(font, file, options)


def refuse_requests(site):
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        if found := FETCHED.search(file.read_text(errors="replace")):
            sys.exit(f"{file}: would ask the network: {found.group()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=CHECKOUT / "build/docs", help="folder of the site")
    options = parser.parse_args()
    source, site = options.out / "source", options.out / "html"
    drawn = pictures.draw_all(source / "docs/pictures")
    gather(source, drawn)
    for name, text in (python_reference.pages() | cpp_reference.pages(CHECKOUT / "src/stiction")).items():
        write(source / "reference" / name, text)
    write(source / "reference/command.md", command_reference())
    write(source / "reference/index.md", INDEX)
    built = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", HERE, source, site]
    if subprocess.run(built, check=False).returncode:
        return 1
    write_font(site / "_static/formulas.woff")
    refuse_requests(site)
    print(site / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
