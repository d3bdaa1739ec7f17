package command

import (
	"regexp"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// fold cuts a text between words, so that the first line has at most so many columns, and the others have. What is longer and must not be cut, such as
// a command that people copy, stays whole: the terminal continues it in its next line, and it is one line where it is pasted.
func fold(text string, first, others int) []string {
	if cells(text) <= first {
		return []string{text}
	}
	var lines []string
	line, room := "", first
	for i, word := range unbroken(text) {
		switch {
		case i == 0:
			line = word
		case cells(line)+1+cells(word) > room && strings.TrimSpace(line) != "":
			lines = append(lines, line)
			line, room = word, others
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// cells is how many columns of a terminal a text takes.
func cells(text string) int { return messages.Cells(text) }

var (
	// begins matches the word that begins a command, which may be in quotes or brackets.
	begins = regexp.MustCompile("^[`'\"(]?(?:fairlead|kubectl|opm|helm)$")
	// argument is what follows it in a command, and not in a sentence about the program.
	argument = regexp.MustCompile("^(?:-|[a-z][a-z-]*[`'\");,.:]*$)")
	// verb follows a program, or a command, in a sentence.
	verb = regexp.MustCompile("^(?:is|was|has|had|can|does|will|would|and|or|to|shows|lists|says|prints|which|that|where|with|for|as|once|again|first|then|if|continues)$")
)

// unbroken are the words of a text, of which those of a command are one: it ends with its quote, before a word of a sentence, or with punctuation. An
// arrow is one with the word that it leads to.
func unbroken(text string) []string {
	words := strings.Split(text, " ")
	var out []string
	for i := 0; i < len(words); {
		end := i + 1
		if begins.MatchString(words[i]) && end < len(words) && argument.MatchString(words[end]) && !verb.MatchString(words[end]) {
			end = commandEnd(words, i)
		} else if (words[i] == "->" || words[i] == "→") && end < len(words) {
			end++
		}
		out = append(out, strings.Join(words[i:end], " "))
		i = end
	}
	return out
}

// commandEnd is the first word after the command that begins at a word.
func commandEnd(words []string, begin int) int {
	outer := words[begin][:1] // the quote that the whole command is in
	if !strings.Contains("`'\"", outer) {
		outer = ""
	}
	quote := "" // that an argument is in
	for i := begin + 1; i < len(words); i++ {
		word := words[i]
		switch {
		case outer != "":
			if strings.Contains(word, outer) {
				return i + 1
			}
			continue
		case quote == "" && verb.MatchString(word):
			return i
		}
		before := ' '
		for _, r := range word {
			switch c := string(r); {
			case c == quote:
				quote = ""
			case quote == "" && (c == "'" || c == `"`) && (before == ' ' || before == '='): // and no apostrophe
				quote = c
			}
			before = r
		}
		if quote == "" && word != "" && strings.Contains(",;:).", word[len(word)-1:]) {
			return i + 1
		}
	}
	return len(words)
}
