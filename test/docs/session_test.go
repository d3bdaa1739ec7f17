package docs

import (
	"bufio"
	"regexp"
	"strings"
)

// step is a command of a page and what it prints there.
type step struct {
	line    int // in the page
	command string
	output  []string
}

// steps are the commands of the blocks ```console of a page. A command that begins with "$ " goes on in lines that begin with "> ".
func steps(page string) []step {
	var found []step
	inside := false
	scanner := bufio.NewScanner(strings.NewReader(page))
	for line := 1; scanner.Scan(); line++ {
		text := scanner.Text()
		if strings.HasPrefix(text, "```") {
			inside = text == "```console"
			continue
		}
		if !inside {
			continue
		}
		if command, ok := strings.CutPrefix(text, "$ "); ok {
			found = append(found, step{line: line, command: command})
			continue
		}
		if len(found) == 0 {
			continue
		}
		last := &found[len(found)-1]
		if more, ok := strings.CutPrefix(text, "> "); ok && len(last.output) == 0 {
			last.command += "\n" + more
			continue
		}
		last.output = append(last.output, text)
	}
	return found
}

// matches tells whether lines are what a page says.
func matches(page, lines []string) bool {
	if len(page) == 0 {
		return len(lines) == 0
	}
	if page[0] == "..." {
		for skipped := range len(lines) + 1 {
			if matches(page[1:], lines[skipped:]) {
				return true
			}
		}
		return false
	}
	return len(lines) > 0 && matchesLine(page[0], lines[0]) && matches(page[1:], lines[1:])
}

func matchesLine(page, line string) bool {
	parts := strings.Split(strings.TrimRight(page, " "), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(strings.TrimRight(line, " "))
}

// rewrite puts the output of the steps into a page.
func rewrite(page string, todo []step) string {
	var out []string
	inside := false
	next := 0
	for _, text := range strings.Split(strings.TrimSuffix(page, "\n"), "\n") {
		if strings.HasPrefix(text, "```") {
			inside = text == "```console"
		} else if inside {
			if strings.HasPrefix(text, "$ ") {
				lines := strings.Split(todo[next].command, "\n")
				out = append(append(out, "$ "+lines[0]), prefixed("> ", lines[1:])...)
				out = append(out, todo[next].output...)
				next++
			}
			continue
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n") + "\n"
}

func prefixed(prefix string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = prefix + line
	}
	return out
}
