package resolution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// scenario is the file namespace.yaml of an archive.
type scenario struct {
	Namespace     string
	Together      bool
	AnyCatalog    bool
	Kubernetes    string
	Sources       []scenarioSource
	Subscriptions []scenarioSubscription
	Operators     []scenarioOperator
}

type scenarioSource struct {
	Ref      string
	Priority int
	File     string // in the archive; without one the catalog has no content
	Problem  string
}

type scenarioSubscription struct {
	Name, Package, Channel, StartingCSV, Catalog, Installed string
}

type scenarioOperator struct {
	Name, Package, Version, Replaces string
	Provides, Requires               []catalog.GVK
	RequiresPackages                 map[string]string
	Properties                       []catalog.Property
	Unsettled                        string // the phase, when it is not Succeeded
	FailForward                      bool   // failed operators may be replaced
}

func TestNamespace(t *testing.T) {
	golden.Each(t, "testdata/namespace/*.txtar", func(t *testing.T, archive *golden.Archive) {
		in := scenarioRequest(t, archive.Archive)
		result := namespace(t, in)
		got := result.String()
		checkReplay(t, in, result)
		for range 20 { // the order in which things are listed decides nothing
			if again := decided(t, shuffled(in)); again != got {
				t.Fatalf("the answer depends on the order of the input (-first +shuffled):\n%s", cmp.Diff(got, again))
			}
		}
		var report strings.Builder
		encoder := json.NewEncoder(&report)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		must.NoError(t, encoder.Encode(result.Report()))
		want := map[string]string{"want": got, "want.json": report.String()}
		for _, f := range archive.Files {
			if text, ok := ask(t, &result, f.Name); ok {
				want[f.Name] = text
			}
		}
		archive.CompareNamed(t, want)
	})
}

// ask answers the question that a file of an archive has as its name, "why NAME", "why-not PACKAGE[@VERSION]" or "outdated".
func ask(t *testing.T, result *NamespaceResult, question string) (string, bool) {
	t.Helper()
	var b strings.Builder
	if question == "outdated" {
		for _, s := range result.Standings(time.Now()) {
			fmt.Fprintf(&b, "%s: installed %q, next %q, reachable %q, head %q, newest %q in %q, held by %q\n",
				s.Subscription, s.Installed, s.Next, s.Allowed, s.Head, s.Newest, s.NewestIn, s.HeldBy)
		}
		return b.String(), true
	}
	if name, ok := strings.CutPrefix(question, "why "); ok {
		for _, because := range result.Why(name) {
			fmt.Fprintf(&b, "%s\n", because.Need)
		}
		return b.String(), true
	}
	text, ok := strings.CutPrefix(question, "why-not ")
	if !ok {
		return "", false
	}
	pkg, version, _ := strings.Cut(text, "@")
	verdicts := must.Value(result.WhyNot(t.Context(), pkg, version))(t)
	for _, v := range verdicts {
		fmt.Fprintf(&b, "%s from channel %s of %s: chosen %t, installed %t\n", v.Name, v.Channel, v.Catalog, v.Chosen, v.Installed)
		for _, reason := range v.Reasons {
			fmt.Fprintf(&b, "  %s\n", reason)
		}
	}
	return b.String(), true
}

func decided(t testing.TB, in NamespaceRequest) string {
	t.Helper()
	result := namespace(t, in)
	return result.String()
}

func namespace(t testing.TB, in NamespaceRequest) NamespaceResult {
	t.Helper()
	result := must.Value(Namespace(context.Background(), in))(t)
	return result
}

// checkReplay proves that the record of each group leads to the same group again, after a way through JSON.
func checkReplay(t testing.TB, in NamespaceRequest, result NamespaceResult) {
	t.Helper()
	for _, g := range result.Groups {
		text := must.Value(json.Marshal(g.Record))(t)
		var record NamespaceRecord
		must.NoError(t, json.Unmarshal(text, &record))
		again := must.Value(record.Replay(context.Background(), func(name, digest string) (*catalog.Index, error) {
			for _, s := range in.Sources {
				if s.Ref.String() == name && s.Index.Digest() == digest {
					return s.Index, nil
				}
			}
			return nil, errors.New("no such catalog")
		}))(t)
		i := slices.IndexFunc(again.Groups, func(h Group) bool { return slices.Equal(h.Subscriptions, g.Subscriptions) })
		if i < 0 {
			t.Fatalf("the record of group %v has no such group: %s", g.Subscriptions, text)
		}
		must.Equal(t, "the record of group", again.Groups[i].Record, g.Record)
		// Advice is tried on all that is in the namespace, of which the record has only what the decision depends on.
		if g.Err != nil && again.Groups[i].Err != nil && reasonsOf(g.Err) != reasonsOf(again.Groups[i].Err) {
			t.Errorf("group %v: another conflict:\n%s", g.Subscriptions, cmp.Diff(reasonsOf(g.Err), reasonsOf(again.Groups[i].Err)))
		}
	}
}

// reasonsOf is an explanation without the advice.
func reasonsOf(err error) string {
	var c *Conflict
	if !errors.As(err, &c) {
		return err.Error()
	}
	plain := *c
	plain.Advice = ""
	return plain.Error()
}

func scenarioRequest(t *testing.T, archive *txtar.Archive) NamespaceRequest {
	t.Helper()
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	var s scenario
	must.NoErrorf(t, yaml.UnmarshalStrict(files["namespace.yaml"], &s), "namespace.yaml")
	in := NamespaceRequest{Namespace: s.Namespace, Together: s.Together, AnyCatalog: s.AnyCatalog}
	if s.Kubernetes != "" {
		in.Kubernetes = semver.MustParse(s.Kubernetes)
	}
	for _, source := range s.Sources {
		in.Sources = append(in.Sources, Source{Ref: reference(source.Ref), Priority: source.Priority, Problem: source.Problem,
			Index: parsedIndex(t, files[source.File], source)})
	}
	for _, sub := range s.Subscriptions {
		in.Subscriptions = append(in.Subscriptions, Subscription{Name: sub.Name, Package: sub.Package, Channel: sub.Channel,
			StartingCSV: sub.StartingCSV, Catalog: reference(sub.Catalog), Installed: sub.Installed})
	}
	for _, o := range s.Operators {
		in.Operators = append(in.Operators, operator(t, o))
	}
	return in
}

func operator(t *testing.T, o scenarioOperator) Operator {
	t.Helper()
	v := must.Value(version.Parse(o.Version))(t)
	out := Operator{Name: o.Name, Package: o.Package, Version: v, Replaces: o.Replaces, Provides: o.Provides, Requires: o.Requires,
		Properties: o.Properties, Failed: o.Unsettled == "Failed"}
	out.Settled = o.Unsettled == "" || out.Failed && o.FailForward
	if !out.Settled {
		out.Phase = o.Unsettled
	}
	for name, text := range o.RequiresPackages {
		r := must.Value(version.ParseRange(text))(t)
		out.Packages = append(out.Packages, PackageRequirement{Package: name, Range: r})
	}
	return out
}

func parsedIndex(t *testing.T, content []byte, source scenarioSource) *catalog.Index {
	t.Helper()
	if source.File == "" {
		return nil
	}
	c, err := catalog.Load(context.Background(), fstest.MapFS{"catalog.yaml": {Data: content}}, catalog.LoadOptions{})
	must.NoErrorf(t, err, "%s", source.File)
	x, err := catalog.NewIndex(c, "sha256:"+source.File)
	must.NoErrorf(t, err, "%s", source.File)
	for _, p := range x.Problems() {
		t.Logf("%s: %v", source.File, p)
	}
	return x
}

func reference(text string) catalog.Ref {
	namespace, name, _ := strings.Cut(text, "/")
	return catalog.Ref{Namespace: namespace, Name: name}
}

func shuffled(in NamespaceRequest) NamespaceRequest {
	in.Subscriptions = append([]Subscription(nil), in.Subscriptions...)
	in.Operators = append([]Operator(nil), in.Operators...)
	in.Sources = append([]Source(nil), in.Sources...)
	rand.Shuffle(len(in.Subscriptions), func(i, j int) {
		in.Subscriptions[i], in.Subscriptions[j] = in.Subscriptions[j], in.Subscriptions[i]
	})
	rand.Shuffle(len(in.Operators), func(i, j int) { in.Operators[i], in.Operators[j] = in.Operators[j], in.Operators[i] })
	rand.Shuffle(len(in.Sources), func(i, j int) { in.Sources[i], in.Sources[j] = in.Sources[j], in.Sources[i] })
	return in
}
