package catalogtest

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// maxMarkdown is where details end: GitHub takes comments of 65,536 characters.
const maxMarkdown = 60_000

// markdown is for the comment of a pull request and the summary of a run: a table of packages, and the details folded.
func (r *Report) markdown(w io.Writer) error {
	var b strings.Builder
	sum := r.Summary()
	fmt.Fprintf(&b, "### %s Catalog test\n\n%s: %s, in %s.\n\n", sum.emoji(), plain(r.Catalog), sum, seconds(r.Took))
	suites := r.suites()
	b.WriteString("| | Package | API | Upgrades | Installations | Skipped | Failed | Time |\n|---|---|---|--:|--:|--:|--:|--:|\n")
	cut := 0
	for _, s := range suites {
		if b.Len() > maxMarkdown/2 {
			cut++
			continue
		}
		sum := s.summary()
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %s |\n", sum.emoji(), plain(s.Package), s.API, sum.Upgrades, sum.Installations, sum.Skipped, sum.Failed, seconds(s.Took))
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\n%d more rows do not fit here; the other formats have them.\n", cut)
	}
	left := 0
	for _, s := range suites {
		text := details(s)
		if b.Len()+len(text) > maxMarkdown {
			left++
			continue
		}
		b.WriteString(text)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nThe details of %d more do not fit here; the other formats have them.\n", left)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// emoji is what a reader sees first.
func (s Summary) emoji() string {
	switch {
	case s.Failed > 0:
		return "❌"
	case s.Findings > 0:
		return "⚠️"
	}
	return "✅"
}

// details are folded; a suite with nothing to say has none.
func details(s suite) string {
	var b strings.Builder
	for _, result := range s.Results {
		if len(result.Findings) == 0 && result.Skipped != "" {
			fmt.Fprintf(&b, "- %s was not tried: %s\n", plain(result.Edge.String()), plain(result.Skipped))
		}
		if len(result.Findings) > 0 {
			fmt.Fprintf(&b, "- %s\n", plain(result.Edge.String()))
		}
		for _, f := range result.Findings {
			fmt.Fprintf(&b, "  - **%s** %s", plain(string(f.Rule)), plain(f.String()))
			if f.Remedy != "" {
				fmt.Fprintf(&b, " → %s", plain(f.Remedy))
			}
			b.WriteString("\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	sum := s.summary()
	return fmt.Sprintf("\n<details><summary>%s (%s): %s, %d skipped</summary>\n\n%s\n</details>\n", plain(s.Package), s.API, safetext.Count(sum.Findings, "finding"), sum.Skipped, b.String())
}

var (
	// markup is what begins a link, a mention, an emphasis, code, a cell or an element. As a reference to a character it is that character and nothing else.
	markup = regexp.MustCompile("[]\\\\`*_{}\\[()<>#+!|~@&$:\"']")
	// bare addresses become links without any markup.
	address = regexp.MustCompile(`(?i)\bwww\.`)
)

// plain is a text of a catalog that Markdown and HTML show as it is, in one line.
func plain(text string) string {
	text = markup.ReplaceAllStringFunc(safetext.OneLine(text), func(c string) string { return fmt.Sprintf("&#%d;", c[0]) })
	return address.ReplaceAllString(text, "www&#46;")
}
