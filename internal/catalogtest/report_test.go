package catalogtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

func sample() *Report {
	edge := func(from, to string) Edge {
		e := Edge{Package: "greeter", To: "greeter.v" + to, ToVersion: to, Channels: []string{"stable"}, Position: catalog.Position{File: "greeter/catalog.yaml", Line: 12}}
		if from != "" {
			e.From, e.FromVersion = "greeter.v"+from, from
		}
		return e
	}
	narrowed := Finding{Rule: SchemaNarrowed, Object: "CustomResourceDefinition.apiextensions.k8s.io greetings.example.com", Message: "v1: ^.spec.name: maxLength: 63 -> 10", Remedy: "keep the limit"}
	grown := Finding{Rule: PermissionGrown, Message: "ServiceAccount greeter: + get secrets", Remedy: "release a minor version"}
	lonely := Edge{Package: "lonely", To: "lonely.v1.0.0", ToVersion: "1.0.0"}
	return &Report{Catalog: "./catalog", Root: "./catalog", Began: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), Took: 12340 * time.Millisecond, Results: []Result{
		{API: V1, Edge: edge("", "1.0.0"), Took: 900 * time.Millisecond},
		{API: V0, Edge: edge("", "1.0.0"), Took: 800 * time.Millisecond},
		{API: V0, Edge: edge("1.0.0", "1.0.1"), Took: 1500 * time.Millisecond, Findings: []Finding{narrowed, grown}},
		{API: V0, Edge: edge("1.0.1", "1.1.0"), Took: 1200 * time.Millisecond},
		{API: V0, Edge: edge("1.0.0", "1.0.1"), Took: 500 * time.Millisecond, Findings: []Finding{grown}}, // by another walk
		{API: V0, Edge: edge("0.9.0", "1.0.0"), Skipped: "the catalog has no bundle greeter.v0.9.0: it only names it"},
		{API: V0, Edge: lonely, Skipped: "the content of lonely.v1.0.0 is not to be had"},
		{API: V1, Edge: lonely, Took: time.Second},
	}}
}

// hostile has what breaks out of a line, an element, a cell, a link, and a terminal.
const hostile = "]]></failure><script>alert(1)</script>\n| x | y |\n\n</details>&<!-- `code` **b** [l](javascript:x) ![i](http://e) @team #1 http://evil.example www.evil.example \x1b[31m\x00 {0} \"'"

func hostileReport() *Report {
	return &Report{Catalog: hostile, Root: hostile, Results: []Result{
		{API: V0, Edge: Edge{Package: hostile, From: hostile, To: hostile, Channels: []string{hostile}, Position: catalog.Position{File: hostile, Line: 1}},
			Findings: []Finding{{Rule: UpgradeFailed, Object: hostile, Message: hostile, Remedy: hostile}}},
		{API: V1, Edge: Edge{Package: hostile, To: hostile}, Skipped: hostile},
	}}
}

func written(t *testing.T, r *Report, format string) string {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, r.Write(&out, format))
	return out.String()
}

func TestReportInEveryFormat(t *testing.T) {
	var files []txtar.File
	for _, format := range Formats() {
		files = append(files, txtar.File{Name: format, Data: []byte(written(t, sample(), format))})
	}
	golden.Read(t, "testdata/report.txtar").Compare(t, files)
	if err := sample().Write(io.Discard, "yaml"); err == nil || !strings.Contains(err.Error(), `there is no format "yaml"; use one of text, json, junit, sarif, markdown`) {
		t.Error(err)
	}
	broken := errors.New("the disk is full")
	for _, format := range Formats() {
		if err := sample().Write(refusing{broken}, format); !errors.Is(err, broken) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

func TestSave(t *testing.T) {
	for file, format := range map[string]string{"a.xml": JUnit, "a.sarif": SARIF, "a.sarif.json": SARIF, "a.json": JSON, "a.md": Markdown, "a.txt": Text} {
		file = filepath.Join(t.TempDir(), file)
		must.NoError(t, sample().Save(file))
		must.Equal(t, file, string(must.Value(os.ReadFile(file))(t)), written(t, sample(), format))
	}
	if err := sample().Save("report.html"); err == nil || !strings.Contains(err.Error(), "write the report to report.html: its name does not say in which format; let it end in .xml") {
		t.Error(err)
	}
	if err := sample().Save(filepath.Join(t.TempDir(), "none", "a.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestSummary(t *testing.T) {
	must.Equal(t, "summary", sample().Summary(), Summary{Packages: 2, Upgrades: 2, Installations: 3, Failed: 1, Findings: 2, Skipped: 2})
	must.Equal(t, "in words", sample().Summary().String(), "2 upgrades and 3 installations of 2 packages, 2 skipped: 2 findings, 1 failed")
	must.Equal(t, "of nothing", (&Report{}).Summary().String(), "0 upgrades and 0 installations of 0 packages: nothing is wrong")
}

// TestAdviceFailsNothing: an edge with advice alone is no failure in any format.
func TestAdviceFailsNothing(t *testing.T) {
	advice := Finding{Rule: PermissionGrown, Message: "asks for more", Remedy: "release a minor version"}
	r := &Report{Results: []Result{{API: V0, Edge: Edge{Package: "p", From: "p.v1.0.0", To: "p.v1.0.1"}, Findings: []Finding{advice}}}}
	must.Equal(t, "summary", r.Summary(), Summary{Packages: 1, Upgrades: 1, Findings: 1})
	for format, want := range map[string]string{Text: "! p (v0)", JUnit: "<system-out>permission-grown: asks for more&#xA;  release a minor version</system-out>", SARIF: `"level": "warning"`, Markdown: "| ⚠️ | p |"} {
		if text := written(t, r, format); !strings.Contains(text, want) || strings.Contains(text, "<failure") || strings.Contains(text, "✗") {
			t.Errorf("%s: %s", format, text)
		}
	}
	if r.Failed() {
		t.Error("advice fails the run")
	}
	r.Results[0].Findings = append(r.Results[0].Findings, Finding{Rule: UpgradeFailed, Message: "no"})
	if text := written(t, r, JUnit); !r.Failed() || !strings.Contains(text, `<failure type="upgrade-failed" message="no (and 1 more)">permission-grown`) {
		t.Error(text)
	}
}

func TestJSONIsReadBack(t *testing.T) {
	for _, r := range []*Report{sample(), {Results: []Result{}}} {
		var back struct {
			FormatVersion int
			Summary       Summary
			Report
		}
		decoder := json.NewDecoder(strings.NewReader(written(t, r, JSON)))
		decoder.DisallowUnknownFields()
		must.NoError(t, decoder.Decode(&back))
		must.Equal(t, "report", back.Report, *r)
		must.Equal(t, "summary", back.Summary, r.Summary())
		must.Equal(t, "version", back.FormatVersion, 1)
	}
	if text := written(t, &Report{}, JSON); !strings.Contains(text, `"results": []`) {
		t.Error(text)
	}
}

func TestJUnitIsReadBack(t *testing.T) {
	for name, r := range map[string]*Report{"sample": sample(), "hostile": hostileReport()} {
		var back junitSuites
		decoder := xml.NewDecoder(strings.NewReader(written(t, r, JUnit)))
		must.NoErrorf(t, decoder.Decode(&back), "%s", name)
		sum := r.Summary()
		must.Equal(t, name, []int{back.Tests, back.Failures, back.Skipped, len(back.Suites)},
			[]int{sum.Upgrades + sum.Installations + sum.Skipped, sum.Failed, sum.Skipped, len(r.suites())})
		if name == "hostile" {
			failure := back.Suites[0].Cases[0].Failure
			if !strings.Contains(failure.Text, "]]></failure><script>") || strings.Contains(failure.Text, "\x1b") {
				t.Errorf("%q", failure.Text)
			}
		}
	}
}

// TestSARIFIsValid checks it against the schema of OASIS, which is in testdata.
func TestSARIFIsValid(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema := must.Value(compiler.Compile("testdata/sarif-schema-2.1.0.json"))(t)
	for name, r := range map[string]*Report{"sample": sample(), "hostile": hostileReport(), "empty": {}} {
		text := written(t, r, SARIF)
		must.NoErrorf(t, schema.Validate(must.Value(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)), "%s", name)
		var back sarifLog
		must.NoError(t, json.Unmarshal([]byte(text), &back))
		run := back.Runs[0]
		must.Equal(t, name+": results", len(run.Results), r.Summary().Findings)
		must.Equal(t, name+": rules", len(run.Tool.Driver.Rules), len(Rules()))
		for _, result := range run.Results {
			must.Equal(t, "rule", run.Tool.Driver.Rules[result.Index].ID, result.Rule)
			if name == "sample" {
				must.Equal(t, "file", result.Locations[0].Physical.Artifact.URI, "catalog/greeter/catalog.yaml")
			}
			if strings.Contains(result.Message.Text, "](") || strings.Contains(strings.ReplaceAll(result.Message.Text, "{{", ""), "{") {
				t.Errorf("the message has a link or a place for an argument: %s", result.Message.Text)
			}
		}
	}
	broken := must.Value(jsonschema.UnmarshalJSON(strings.NewReader(`{"version": "2.1.0", "runs": [{"results": [{}]}]}`)))(t)
	if schema.Validate(broken) == nil {
		t.Error("the schema allows a run without a tool")
	}
	unknown := &Report{Results: []Result{{API: V0, Edge: Edge{Package: "p", To: "p.v1"}, Findings: []Finding{{Rule: InstallFailed, Message: "no"}}}}}
	if text := written(t, unknown, SARIF); strings.Contains(text, "physicalLocation") || !strings.Contains(text, `"fullyQualifiedName": "p/p.v1"`) {
		t.Error(text)
	}
}

// TestMarkdownShowsNamesAsTheyAre renders it as GitHub does, raw HTML and bare addresses included.
func TestMarkdownShowsNamesAsTheyAre(t *testing.T) {
	render := func(text string) string {
		var out bytes.Buffer
		must.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(ghtml.WithUnsafe())).Convert([]byte(text), &out))
		return out.String()
	}
	text := render(written(t, hostileReport(), Markdown))
	elements := regexp.MustCompile(`</?([a-z0-9]+)`)
	var seen []string
	for _, m := range elements.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(seen, m[1]) {
			seen = append(seen, m[1])
		}
	}
	slices.Sort(seen)
	must.Equal(t, "elements", seen, []string{"details", "h3", "li", "p", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"})
	if opened, closed := strings.Count(text, "<details>"), strings.Count(text, "</details>"); opened != 2 || closed != 2 {
		t.Errorf("%d details are opened, %d closed", opened, closed)
	}
	if rows := strings.Count(text, "<tr>"); rows != 3 {
		t.Errorf("%d rows", rows)
	}
	if raw := written(t, hostileReport(), Markdown); strings.Contains(raw, "@team") || strings.Contains(raw, "#1 ") {
		t.Errorf("a name mentions people or issues: %s", raw)
	}
}

func TestMarkdownFitsIntoAComment(t *testing.T) {
	r := &Report{}
	for i := range 3000 {
		r.Results = append(r.Results, Result{API: V0, Edge: Edge{Package: strings.Repeat("p", 1+i%50) + strings.Repeat("q", i/50), To: "b"}, Findings: []Finding{{Rule: InstallFailed, Message: strings.Repeat("long ", 50)}}})
	}
	text := written(t, r, Markdown)
	if len(text) > 65_536 || !strings.Contains(text, "more rows do not fit here") || !strings.Contains(text, "more do not fit here") {
		t.Errorf("%d bytes", len(text))
	}
}

func TestRulesAreExplained(t *testing.T) {
	seen := map[Rule]bool{}
	for _, h := range Rules() {
		if seen[h.Rule] || h.Title == "" || h.Meaning == "" || h.Remedy == "" {
			t.Errorf("%+v", h)
		}
		seen[h.Rule] = true
	}
	for _, r := range []Rule{InstallFailed, UpgradeFailed, NoContent, CustomResourceLost, CustomResourceChanged, CustomResourceUnreadable, StoredVersionDropped, SchemaNarrowed, DependencyMissing,
		TwoHeads, ImmutableSelector, WebhookCertificate, ImageMissing, PermissionGrown, Orphaned, RollbackFailed, ExampleRefused, UninstallLeft} {
		if !seen[r] {
			t.Errorf("%s is not explained", r)
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d rules", len(seen))
	}
}

// TestPageHasTheRules: docs/catalog-test.md says what the reports say.
func TestPageHasTheRules(t *testing.T) {
	page := string(must.Value(os.ReadFile(filepath.Join("..", "..", "docs", "catalog-test.md")))(t))
	var want strings.Builder
	for _, h := range Rules() {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", h.Rule, h.Meaning, h.Remedy)
	}
	_, table, _ := strings.Cut(page, "| rule | what is wrong | what the author does |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	must.Equal(t, "the table of rules", table+"\n", want.String())
	for _, format := range Formats() {
		if !strings.Contains(page, "| `"+format+"` | ") {
			t.Errorf("the page does not have the format %s", format)
		}
	}
}
