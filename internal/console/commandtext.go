package console

import (
	"slices"
	"strings"
)

// span is a piece of a text: a command to type, or a flag of one, is code.
type span struct {
	Text string
	Code bool
}

// tools are what commands begin with.
var tools = []string{"fairlead", "kubectl", "helm"}

// proseWords are words that follow a command in a sentence.
var proseWords = strings.Fields("a an and as collects continues creates decides deletes does finds for gives goes has in is it lists of on once or prints reads removes returns says shows so tells that the then to until where which with")

// valued are flags that a value follows, whatever that is.
var valued = []string{"-n", "-f", "-l", "-o"}

// spans are the pieces of a text of internal/ops that is the same one for commands, programs and pages: a page shows the commands in it as code, so that they are
// seen to be an alternative to what it offers itself.
func spans(text string) (all []span) {
	words := strings.Split(text, " ")
	for i := 0; i < len(words); {
		n := commandLength(words[i:])
		code := n > 0
		n = max(n, 1)
		piece := strings.Join(words[i:i+n], " ")
		if i += n; i < len(words) {
			piece += " "
		}
		before, opened := cutOpening(piece, code)
		command, after := cutClosing(opened, code)
		for _, s := range []span{{before, false}, {command, code}, {after, false}} {
			switch last := len(all) - 1; {
			case s.Text == "":
			case last >= 0 && all[last].Code == s.Code:
				all[last].Text += s.Text
			default:
				all = append(all, s)
			}
		}
	}
	return all
}

// commandLength is how many of the words are a command, or a flag with its value; 0 where they begin with neither.
func commandLength(words []string) int {
	first := strings.TrimLeft(words[0], "(`'\"")
	tool := slices.Contains(tools, first)
	flag := strings.HasPrefix(first, "--") && len(first) > 3
	if !tool && !flag || tool && (len(words) < 2 || slices.Contains(proseWords, words[1]) || strings.Trim(words[1], "abcdefghijklmnopqrstuvwxyz-.;,:)`") != "") {
		return 0
	}
	n := 1
	for n < len(words) && !strings.ContainsAny(words[n-1][len(words[n-1])-1:], ";,:)`\n") && words[n] != "" && (slices.Contains(valued, words[n-1]) || !slices.Contains(proseWords, words[n])) {
		if flag && !strings.ContainsAny(words[n], "=/|ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			break
		}
		if n++; flag {
			break
		}
	}
	return n
}

func cutOpening(piece string, code bool) (before, rest string) {
	if !code {
		return "", piece
	}
	rest = strings.TrimLeft(piece, "(`\"")
	return piece[:len(piece)-len(rest)], rest
}

func cutClosing(piece string, code bool) (command, after string) {
	if !code {
		return piece, ""
	}
	command = strings.TrimRight(piece, " ;,:.)`\"")
	return command, piece[len(command):]
}
