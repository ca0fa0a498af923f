#!/usr/bin/python3
"""Manual pages from what the commands say of themselves.

usage: faultline --experimental-dump-help | manual.py VERSION DIRECTORY

Writes faultline.1 and one page for each subcommand (faultline-explore.1).
"""

import json
import os
import sys


def roff(text):
    """Text as roff shows it letter by letter."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(("\\&" + line if line[:1] in (".", "'") else line) for line in text.split("\n"))


def written(argument):
    """How an argument is written on a command line."""
    names = ["-" * (2 if n["kind"] == "long" else 1) + n["name"] for n in argument.get("names") or []]
    value = (argument.get("valueName") or "value").upper()
    if argument["kind"] == "positional":
        return value + (" ..." if argument["isRepeating"] else "")
    joined = ", ".join(names)
    return joined if argument["kind"] == "flag" else joined + " " + value


def discussion(text):
    """Paragraphs, and indented lines as examples."""
    lines, is_example = [], False
    for line in text.split("\n"):
        if line.startswith("  ") != is_example:
            is_example = not is_example
            lines.append(".PP\n.nf\n.RS" if is_example else ".RE\n.fi")
        if line:
            lines.append((roff(line[2:]) if is_example else ".PP\n" + roff(line)))
    return "\n".join(lines + ([".RE\n.fi"] if is_example else []))


def options(command):
    shown = [a for a in command.get("arguments") or [] if a["shouldDisplay"]]
    text, title = "", None
    for argument in shown:
        if argument.get("sectionTitle") != title:
            title = argument.get("sectionTitle")
            text += ".SS " + roff(title or "Options") + "\n"
        meaning = argument.get("abstract") or ""
        if argument.get("allValues"):
            meaning += " Values: " + ", ".join(argument["allValues"]) + "."
        if argument.get("defaultValue"):
            meaning += " Default: " + argument["defaultValue"] + "."
        text += ".TP\n.B " + roff(written(argument)) + "\n" + roff(meaning.strip()) + "\n"
    return text


def visible(command):
    return [
        s for s in command.get("subcommands") or []
        if s.get("shouldDisplay") is not False and s["commandName"] != "help"]


def page(command, path, version):
    name = " ".join(path)
    title = "-".join(path).upper()
    positional = [a for a in command.get("arguments") or [] if a["kind"] == "positional" and a["shouldDisplay"]]
    synopsis = ".B " + roff(name) + "\n"
    synopsis += "[options]" + "".join(" " + roff(written(a)) for a in positional) + "\n"
    text = f'.TH {roff(title)} 1 "" "faultline {version}" "Faultline"\n'
    text += ".SH NAME\n" + roff("-".join(path)) + " \\- " + roff(command.get("abstract") or name) + "\n"
    text += ".SH SYNOPSIS\n" + synopsis
    if command.get("discussion"):
        text += ".SH DESCRIPTION\n" + discussion(command["discussion"]) + "\n"
    if options(command):
        text += ".SH OPTIONS\n" + options(command)
    children = visible(command)
    if children:
        text += ".SH COMMANDS\n"
        for child in children:
            text += ".TP\n.B " + roff(name + " " + child["commandName"]) + "\n"
            text += roff(child.get("abstract") or "") + "\n"
            # Commands below a subcommand have no page of their own.
            if len(path) > 1:
                text += options(child)
    return text


def main():
    version, directory = sys.argv[1:]
    root = json.load(sys.stdin)["command"]
    os.makedirs(directory, exist_ok=True)
    pages = [(root, [root["commandName"]])]
    pages += [(child, [root["commandName"], child["commandName"]]) for child in visible(root)]
    for command, path in pages:
        with open(os.path.join(directory, "-".join(path) + ".1"), "w", encoding="utf-8") as file:
            file.write(page(command, path, version))


main()
