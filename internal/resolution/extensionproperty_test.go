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

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
)

// TestAgreesWithTheDocumentedSteps decides random requests a second time, catalog by catalog and rule by rule as the steps are written
// down, without any solver.
func TestAgreesWithTheDocumentedSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	seen := map[string]int{}
	for i := range sweep.Of(1000, 1000, 3000) {
		in := randomRequest(t, random)
		result, err := Extension(t.Context(), in)
		got := extensionOutcome(result, err)
		if want := steps(t, in); got != want {
			t.Fatalf("request %d: decided %q, by the steps it is %q\n%s", i, got, want, tell(result, err))
		}
		var conflict *Conflict
		if errors.As(err, &conflict) {
			checkConflict(t, conflict)
			checkMinimal(t, conflict)
			got = string(conflict.Reason)
		} else {
			got = string(result.Change)
		}
		seen[got]++
		extensionCheckReplay(t, in, result, tell(result, err))
	}
	for _, what := range []string{string(ChangeInstall), string(ChangeUpgrade), string(ChangeDowngrade), string(ChangeStay), string(ChannelNotFound), string(VersionNotFound),
		string(NoSuccessor), string(DowngradeRefused), string(DependencyMissing), string(BreaksOthers), string(AmbiguousCatalogs), string(CatalogUnavailable), string(NoCatalog), string(ChangeKeep)} {
		if seen[what] == 0 {
			t.Errorf("no request came to %s; there were %v", what, seen)
		}
	}
}

func extensionOutcome(r *ExtensionResult, err error) string {
	var conflict *Conflict
	switch {
	case errors.As(err, &conflict) && conflict.Reason == AmbiguousCatalogs:
		return "ambiguous"
	case errors.As(err, &conflict) && conflict.Reason == CatalogUnavailable:
		return "unavailable"
	case errors.As(err, &conflict):
		return "none"
	case err != nil:
		return err.Error()
	case r.Bundle == nil:
		return "keep"
	}
	return r.Catalog + "/" + r.Bundle.Name
}

// checkMinimal demands that no rule of an explanation can be left out.
func checkMinimal(t *testing.T, c *Conflict) {
	t.Helper()
	var core *resolve.Unsatisfiable
	if errors.As(c, &core) && !core.Minimal {
		t.Errorf("the explanation is not minimal: %v", c)
	}
}

// steps is the oracle.
func steps(t *testing.T, in ExtensionRequest) string {
	t.Helper()
	var selected []Catalog
	for _, c := range in.Catalogs {
		if !c.Disabled {
			selected = append(selected, c)
		}
	}
	type found struct {
		catalog  Catalog
		bundle   *catalog.BundleInfo
		priority int
	}
	var best []found // of each catalog
	blind := -1      // the highest priority of what is to be waited for
	unread, broken, reached := false, false, false
	for _, c := range selected {
		useless := c.Index != nil && isBroken(c)
		broken = broken || useless
		if c.Index == nil || useless && in.RequireAll {
			unread = true
			if in.RequireAll || c.Problem == "" && in.Installed == nil {
				blind = max(blind, c.Priority)
			}
			continue
		}
		if b := bestOf(t, in, c, &reached); b != nil {
			best = append(best, found{c, b, c.Priority})
		}
	}
	if slices.ContainsFunc(best, func(f found) bool { return f.bundle.Deprecation == "" }) {
		best = slices.DeleteFunc(best, func(f found) bool { return f.bundle.Deprecation != "" })
	} else if blind >= 0 {
		best = nil
	}
	top := -1
	for _, f := range best {
		top = max(top, f.priority)
	}
	best = slices.DeleteFunc(best, func(f found) bool { return f.priority < top })
	installed := in.Installed != nil && !in.RequireAll && inRange(t, in, in.Installed.Version.Version) && len(selected) > 0
	switch {
	case len(best) == 0 || top <= blind:
		switch {
		case installed && (unread || broken && !reached):
			return "keep"
		case unread:
			return "unavailable"
		}
		return "none"
	case len(best) > 1:
		return "ambiguous"
	}
	return best[0].catalog.Name + "/" + best[0].bundle.Name
}

// isBroken reports whether nothing of the package can be used, although the catalog has it.
func isBroken(c Catalog) bool {
	_, ok := c.Index.PackageV1("p")
	return !ok && len(c.Index.Problems().About("p")) > 0
}

func inRange(t *testing.T, in ExtensionRequest, v semver.Version) bool {
	t.Helper()
	if in.Version == "" {
		return true
	}
	versions := must.Value(version.ParseConstraint(in.Version))(t)
	return versions.Contains(v)
}

// bestOf is the bundle that one catalog alone would give. reached says whether one was refused for what extensions need alone.
func bestOf(t *testing.T, in ExtensionRequest, c Catalog, reached *bool) *catalog.BundleInfo {
	t.Helper()
	p, ok := c.Index.PackageV1("p")
	if !ok {
		return nil
	}
	var best *catalog.BundleInfo
	for _, v := range someVersions {
		bundle, ok := c.Index.BundleV1("p", "p.v"+v)
		if !ok || !allowed(t, in, p, bundle) {
			continue
		}
		*reached = true
		if !(in.Installed != nil && bundle.Name == in.Installed.Name) && !sound(in, bundle) {
			continue
		}
		switch {
		case best == nil:
		case best.Deprecation == "" && bundle.Deprecation != "":
			continue
		case best.Deprecation != "" && bundle.Deprecation == "":
		case best.Version.Compare(bundle.Version) > 0:
			continue
		}
		best = bundle
	}
	return best
}

func allowed(t *testing.T, in ExtensionRequest, p *catalog.PackageInfo, bundle *catalog.BundleInfo) bool {
	t.Helper()
	inChannel, successor := false, in.Installed == nil || in.Policy == SelfCertified || bundle.Version.Compare(in.Installed.Version) == 0
	for _, channel := range p.Channels {
		e, ok := channel.Entry(bundle.Name)
		if !ok || len(in.Channels) > 0 && !slices.Contains(in.Channels, channel.Name) {
			continue
		}
		inChannel = true
		successor = successor || e.Replaces == in.Installed.Name || slices.Contains(e.Skips, in.Installed.Name) || e.SkipRange.Contains(in.Installed.Version.Version)
	}
	return inChannel && successor && inRange(t, in, bundle.Version.Version)
}

// sound tells whether the needs of a bundle are met by the other extensions, and their needs by it where they are met now.
func sound(in ExtensionRequest, bundle *catalog.BundleInfo) bool {
	type thing struct {
		pkg        string
		version    semver.Version
		properties []catalog.Property
	}
	var met func(need catalog.Property, pkg string, among []thing) bool
	met = func(need catalog.Property, pkg string, among []thing) bool {
		if need.Type == catalog.PropertyConstraint { // the absence of an API
			api := strings.TrimSuffix(strings.TrimPrefix(string(need.Value), `{"not":{"constraints":[{"gvk":`), `}]}}`)
			return !met(catalog.Property{Type: catalog.PropertyGVKRequired, Value: json.RawMessage(api)}, pkg, among)
		}
		for _, o := range among {
			if o.pkg == pkg {
				continue
			}
			var required struct{ PackageName, VersionRange string }
			if need.Type == catalog.PropertyPackageRequired && json.Unmarshal(need.Value, &required) == nil && required.PackageName == o.pkg &&
				semver.MustParseRange(required.VersionRange)(o.version) {
				return true
			}
			if need.Type == catalog.PropertyGVKRequired && slices.ContainsFunc(o.properties, func(q catalog.Property) bool {
				return q.Type == catalog.PropertyGVK && string(q.Value) == string(need.Value)
			}) {
				return true
			}
		}
		return false
	}
	needs := func(of thing) (out []catalog.Property) {
		for _, q := range of.properties {
			itself := strings.HasSuffix(q.Type, ".required") && met(q, "", []thing{of})
			if strings.HasSuffix(q.Type, ".required") && !itself || q.Type == catalog.PropertyConstraint {
				out = append(out, q)
			}
		}
		return out
	}
	var world []thing
	for _, o := range in.Others {
		world = append(world, thing{o.Package, o.Installed.Version.Version, o.Installed.Properties})
	}
	for _, n := range needs(thing{"p", bundle.Version.Version, bundle.Properties}) {
		if !met(n, "p", world) {
			return false
		}
	}
	now, then := slices.Clone(world), append(slices.Clone(world), thing{"p", bundle.Version.Version, bundle.Properties})
	if in.Installed != nil {
		now = append(now, thing{"p", in.Installed.Version.Version, in.Installed.Properties})
	}
	for _, o := range world {
		for _, n := range needs(o) {
			if met(n, o.pkg, now) && !met(n, o.pkg, then) {
				return false
			}
		}
	}
	return true
}

// TestOrderOfInput compares as many orders as the flag -shuffles says.
func TestOrderOfInput(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	var in ExtensionRequest
	want := ""
	for i := range *shuffles {
		if i%10 == 0 {
			in = randomRequest(t, random)
			want = tell(Extension(t.Context(), in))
		}
		if got := tell(Extension(t.Context(), extensionShuffled(random, in))); got != want {
			t.Fatalf("the order of the input matters: %q or %q", want, got)
		}
	}
}

// TestCancelled demands that an end of the context is told as such.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := Extension(ctx, ExtensionRequest{Name: "my", Package: "p", Catalogs: []Catalog{{Name: "cat", Index: tower(t, 3)}}})
	if result != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", result, err)
	}
}

// TestUnrelatedChangesNothing adds extensions that have nothing to do with the package: neither the answer nor its record is another.
func TestUnrelatedChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		in := randomRequest(t, random)
		result, err := Extension(t.Context(), in)
		for i := range 5 {
			in.Others = append(in.Others, InstalledExtension{Name: fmt.Sprint("unrelated", i), Package: fmt.Sprint("u", i), Installed: Installed{Name: "u.v1",
				Properties: []catalog.Property{api(100 + i), {Type: catalog.PropertyPackageRequired, Value: json.RawMessage(`{"packageName":"v","versionRange":"1.x"}`)}}}})
		}
		more, moreErr := Extension(t.Context(), in)
		if diff := cmp.Diff(tell(result, err), tell(more, moreErr)); diff != "" {
			t.Fatalf("the answer is another (-without +with):\n%s", diff)
		}
		if diff := cmp.Diff(result.Record, more.Record); diff != "" {
			t.Fatalf("the record is another (-without +with):\n%s", diff)
		}
	}
}
