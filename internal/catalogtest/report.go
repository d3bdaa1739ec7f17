package catalogtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
)

// The formats of a report.
const (
	Text     = "text"
	JSON     = "json"
	JUnit    = "junit"
	SARIF    = "sarif"
	Markdown = "markdown"
)

// Formats are those that Write knows.
func Formats() []string { return []string{Text, JSON, JUnit, SARIF, Markdown} }

// Write writes the report in a format.
func (r *Report) Write(w io.Writer, format string) error {
	writers := map[string]func(*Report, io.Writer) error{Text: (*Report).text, JSON: (*Report).json, JUnit: (*Report).junit, SARIF: (*Report).sarif, Markdown: (*Report).markdown}
	write, ok := writers[format]
	if !ok {
		return fmt.Errorf("write the report of the catalog test: there is no format %s; use one of %s", safetext.Quote(format), strings.Join(Formats(), ", "))
	}
	if err := write(r, w); err != nil {
		return fmt.Errorf("write the report of the catalog test as %s: %w", format, err)
	}
	return nil
}

// FormatOf is the format of a file by how its name ends: .xml is JUnit, .sarif or .sarif.json SARIF, .json JSON, .md Markdown, .txt text.
func FormatOf(file string) (string, error) {
	for _, known := range []struct{ ending, format string }{{".xml", JUnit}, {".sarif", SARIF}, {".sarif.json", SARIF}, {".json", JSON}, {".md", Markdown}, {".txt", Text}} {
		if strings.HasSuffix(file, known.ending) {
			return known.format, nil
		}
	}
	return "", fmt.Errorf("write the report to %s: its name does not say in which format; let it end in .xml (JUnit), .sarif, .json, .md or .txt", file)
}

// Save writes the report to a file, in the format that its name says.
func (r *Report) Save(file string) error {
	format, err := FormatOf(file)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := r.Write(&content, format); err != nil {
		return err
	}
	if err := os.WriteFile(file, content.Bytes(), 0o644); err != nil { // others read it: it has nothing that the catalog does not
		return fmt.Errorf("write the report of the catalog test: %w", err)
	}
	return nil
}

// Summary counts what was seen. An edge that several walks took counts once under each API.
type Summary struct {
	Packages      int `json:"packages"`
	Upgrades      int `json:"upgrades"`
	Installations int `json:"installations"`
	Failed        int `json:"failed"` // edges with findings
	Findings      int `json:"findings"`
	Skipped       int `json:"skipped"` // edges that were not tried
}

// Summary counts all of the run.
func (r *Report) Summary() Summary {
	var s Summary
	packages := map[string]bool{}
	for _, suite := range r.suites() {
		packages[suite.Package] = true
		s.add(suite.Results)
	}
	s.Packages = len(packages)
	return s
}

func (s *Summary) add(results []Result) {
	for _, result := range results {
		switch {
		case result.Skipped != "":
			s.Skipped++
		case result.Edge.To == "": // a channel
		case result.Edge.From == "":
			s.Installations++
		default:
			s.Upgrades++
		}
		s.Findings += len(result.Findings)
		if result.failed() {
			s.Failed++
		}
	}
}

// Failed tells whether there is a finding that is more than advice.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Results, Result.failed)
}

func (r Result) failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !help(f.Rule).Advice })
}

// String is the summary in a few words.
func (s Summary) String() string {
	text := fmt.Sprintf("%s and %s of %s", safetext.Count(s.Upgrades, "upgrade"), safetext.Count(s.Installations, "installation"), safetext.Count(s.Packages, "package"))
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", s.Skipped)
	}
	if s.Findings == 0 {
		return text + ": nothing is wrong"
	}
	return text + fmt.Sprintf(": %s, %d failed", safetext.Count(s.Findings, "finding"), s.Failed)
}

// suite is what was seen of a package under an API.
type suite struct {
	Package string
	API     API
	Took    time.Duration
	Results []Result // each edge once
}

func (s *suite) summary() Summary {
	var sum Summary
	sum.add(s.Results)
	return sum
}

// suites sort the results by package and API, each in the order in which they were seen. What several walks saw of an edge is one result: that it
// was skipped counts only where it always was.
func (r *Report) suites() []suite {
	type key struct {
		api                    API
		pkg, from, to, channel string
	}
	place := map[key]int{}
	var merged []Result
	for _, result := range r.Results {
		k := key{api: result.API, pkg: result.Edge.Package, from: result.Edge.From, to: result.Edge.To}
		if k.to == "" {
			k.channel = strings.Join(result.Edge.Channels, " ")
		}
		i, known := place[k]
		if !known {
			place[k] = len(merged)
			result.Findings = distinct(result.Findings)
			merged = append(merged, result)
			continue
		}
		one := &merged[i]
		one.Took += result.Took
		one.Findings = distinct(append(slices.Clone(one.Findings), result.Findings...))
		if result.Skipped == "" {
			one.Skipped = ""
		}
	}
	slices.SortStableFunc(merged, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Edge.Package, b.Edge.Package), cmp.Compare(a.API, b.API))
	})
	var suites []suite
	for _, result := range merged {
		if last := len(suites) - 1; last < 0 || suites[last].Package != result.Edge.Package || suites[last].API != result.API {
			suites = append(suites, suite{Package: result.Edge.Package, API: result.API})
		}
		last := &suites[len(suites)-1]
		last.Took += result.Took
		last.Results = append(last.Results, result)
	}
	return suites
}

func distinct(findings []Finding) []Finding {
	var once []Finding
	for _, f := range findings {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return once
}

// String is the edge in one line.
func (e Edge) String() string {
	if e.To == "" {
		return "channel " + safetext.OneLine(strings.Join(e.Channels, ", "))
	}
	if e.From == "" {
		return "install " + safetext.OneLine(e.To)
	}
	return safetext.OneLine(e.From) + " -> " + safetext.OneLine(e.To)
}

// String is the finding in one line, without its rule.
func (f Finding) String() string {
	text := safetext.OneLine(f.Message)
	if f.Object != "" {
		text = safetext.OneLine(f.Object) + ": " + text
	}
	return text
}

// text is for people at a terminal: all edges that failed or were skipped, and a line for each package.
func (r *Report) text(w io.Writer) error {
	var b strings.Builder
	for _, suite := range r.suites() {
		sum := suite.summary()
		mark := "✓"
		switch {
		case sum.Failed > 0:
			mark = "✗"
		case sum.Findings > 0:
			mark = "!"
		}
		fmt.Fprintf(&b, "%s %s (%s): %s, %s", mark, safetext.OneLine(suite.Package), suite.API, safetext.Count(sum.Upgrades, "upgrade"), safetext.Count(sum.Installations, "installation"))
		if sum.Skipped > 0 {
			fmt.Fprintf(&b, ", %d skipped", sum.Skipped)
		}
		fmt.Fprintf(&b, ", %s\n", seconds(suite.Took))
		for _, result := range suite.Results {
			switch {
			case result.failed():
				fmt.Fprintf(&b, "  ✗ %s\n", result.Edge)
			case len(result.Findings) > 0:
				fmt.Fprintf(&b, "  ! %s\n", result.Edge)
			case result.Skipped != "":
				fmt.Fprintf(&b, "  - %s was not tried: %s\n", result.Edge, safetext.OneLine(result.Skipped))
			}
			for _, f := range result.Findings {
				fmt.Fprintf(&b, "      %s: %s\n", f.Rule, f)
				if f.Remedy != "" {
					fmt.Fprintf(&b, "        %s\n", safetext.OneLine(f.Remedy))
				}
			}
		}
	}
	fmt.Fprintf(&b, "Catalog %s: %s, %s\n", safetext.OneLine(r.Catalog), r.Summary(), seconds(r.Took))
	_, err := io.WriteString(w, b.String())
	return err
}

// seconds is a time that people and programs read.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }

// formatVersion is that of the JSON. It grows when a field goes or changes what it means; new fields come without.
const formatVersion = 1

// json is for programs: the report as it is, with the summary.
func (r *Report) json(w io.Writer) error {
	report := *r
	if report.Results == nil {
		report.Results = []Result{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		FormatVersion int     `json:"formatVersion"`
		Summary       Summary `json:"summary"`
		Report
	}{formatVersion, r.Summary(), report})
}
