package catalogtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
)

// The elements of JUnit that GitHub's actions, GitLab and Jenkins read alike.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		File      string        `xml:"file,attr,omitempty"`
		Time      string        `xml:"time,attr"`
		Failure   *junitFailure `xml:"failure"`
		Skipped   *junitSkipped `xml:"skipped"`
		Output    string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// junit has a suite for each package under each API and a case for each edge. Of a case, readers show one failure: it has the text of all findings. Advice alone is no failure.
func (r *Report) junit(w io.Writer) error {
	all := junitSuites{Name: "fairlead catalog test " + safetext.OneLine(r.Catalog), Time: bare(r.Took)}
	for _, s := range r.suites() {
		sum := s.summary()
		suite := junitSuite{Name: fmt.Sprintf("%s (%s)", safetext.OneLine(s.Package), s.API), Tests: len(s.Results), Failures: sum.Failed, Skipped: sum.Skipped,
			Time: bare(s.Took), Timestamp: r.Began.UTC().Format("2006-01-02T15:04:05")}
		for _, result := range s.Results {
			suite.Cases = append(suite.Cases, r.junitCase(result))
		}
		all.Tests, all.Failures, all.Skipped = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Skipped+suite.Skipped
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Report) junitCase(result Result) junitCase {
	c := junitCase{Name: result.Edge.String(), ClassName: fmt.Sprintf("%s.%s", result.API, safetext.OneLine(result.Edge.Package)), File: r.file(result.Edge), Time: bare(result.Took)}
	if result.Skipped != "" && len(result.Findings) == 0 {
		c.Skipped = &junitSkipped{Message: safetext.OneLine(result.Skipped)}
	}
	var lines []string
	for _, f := range result.Findings {
		lines = append(lines, fmt.Sprintf("%s: %s", f.Rule, f))
		if f.Remedy != "" {
			lines = append(lines, "  "+safetext.OneLine(f.Remedy))
		}
	}
	text := strings.Join(lines, "\n")
	i := slices.IndexFunc(result.Findings, func(f Finding) bool { return !help(f.Rule).Advice })
	if i < 0 {
		c.Output = text
		return c
	}
	first := result.Findings[i]
	c.Failure = &junitFailure{Type: string(first.Rule), Message: first.String(), Text: text}
	if more := len(result.Findings) - 1; more > 0 {
		c.Failure.Message += fmt.Sprintf(" (and %d more)", more)
	}
	return c
}

// bare is a time in seconds, as JUnit has it.
func bare(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
