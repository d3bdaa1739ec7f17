package clusterextension

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// set is a revision as the tests want it.
func set(number int64, version string, conditions ...metav1.Condition) olmv1.ClusterObjectSet {
	s := olmv1.ClusterObjectSet{}
	s.Name = "my-" + string(rune('0'+number))
	s.Spec.Revision, s.Spec.LifecycleState = number, olmv1.LifecycleStateActive
	s.Annotations = map[string]string{olmv1.BundleNameKey: "a.v" + version, olmv1.BundleVersionKey: version, olmv1.PackageNameKey: "a",
		olmv1.BundleReferenceKey: "quay.io/a:" + version}
	s.Status.Conditions = conditions
	return s
}

func archived(s olmv1.ClusterObjectSet) olmv1.ClusterObjectSet {
	s.Spec.LifecycleState = olmv1.LifecycleStateArchived
	return s
}

func is(kind, reason, message string) metav1.Condition {
	return olmv1.NewCondition(kind, metav1.ConditionTrue, reason, message)
}

func isNot(kind, reason, message string) metav1.Condition {
	return olmv1.NewCondition(kind, metav1.ConditionFalse, reason, message)
}

var (
	done      = []metav1.Condition{is("Succeeded", "Succeeded", ""), is("Progressing", "Succeeded", "Revision has rolled out."), is("Available", "ProbesSucceeded", "all good")}
	rolling   = []metav1.Condition{is("Progressing", "RollingOut", "Revision 2.0.0 is rolling out."), isNot("Available", "ProbeFailure", "Deployment a: not ready")}
	collides  = []metav1.Condition{is("Progressing", "Retrying", "revision object collisions in phase deploy")}
	exceeded  = []metav1.Condition{isNot("Progressing", "ProgressDeadlineExceeded", "Revision has not rolled out for 1 minute(s). Last status: x")}
	crashes   = []metav1.Condition{isNot("Progressing", "CrashLoopBackOff", "Revision 2.0.0 does not keep running. x"), isNot("Available", "ProbeFailure", "x")}
	unhealthy = []metav1.Condition{is("Succeeded", "Succeeded", ""), is("Progressing", "Succeeded", ""), isNot("Available", "ProbeFailure", "Deployment a: no replicas")}
)

// TestStatus has a row for each way in which an extension can stand. The conditions are told as type=status/reason: first line.
func TestStatus(t *testing.T) {
	known := func(d resolution.Deprecation) *resolution.ExtensionResult {
		return &resolution.ExtensionResult{Deprecation: &d}
	}
	none := &resolution.Conflict{Reason: resolution.NoSuccessor, Summary: `error upgrading from currently installed version "1.0.0": no bundles found for package "a" matching version "3"`}
	unknown := []string{"Deprecated=Unknown/DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable",
		"PackageDeprecated=Unknown/DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable",
		"ChannelDeprecated=Unknown/DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable"}
	fine := []string{"Deprecated=False/NotDeprecated: not deprecated", "PackageDeprecated=False/NotDeprecated: package not deprecated",
		"ChannelDeprecated=False/NotDeprecated: channel not deprecated"}
	const unknownBundle = "BundleDeprecated=Unknown/DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable"
	const fineBundle, noBundle = "BundleDeprecated=False/NotDeprecated: bundle not deprecated", "BundleDeprecated=Unknown/Absent: no bundle installed yet"
	const installed1 = "Installed=True/Succeeded: Installed bundle quay.io/a:1.0.0 successfully"
	const available = "Available=True/ProbesSucceeded: all good"
	tests := map[string]struct {
		revisions revision.History
		outcome   outcome
		want      []string
		verdict   string
		version   string
		active    []string
	}{
		"nothing can be had": {
			verdict: "Ready=False/ResolutionFailed Stalled=True",
			outcome: outcome{conflict: &resolution.Conflict{Summary: `no bundles found for package "a"`}},
			want:    slices.Concat([]string{"Installed=False/Failed: No bundle installed", `Progressing=True/Retrying: no bundles found for package "a"`}, unknown, []string{noBundle}),
		},
		"the bundle is fetched": {
			verdict: "Ready=False/RollingOut Reconciling=True",
			outcome: outcome{resolved: known(resolution.Deprecation{}), doing: "fetching bundle a.v1.0.0"},
			want:    slices.Concat([]string{"Installed=False/Failed: No bundle installed", "Progressing=True/RollingOut: fetching bundle a.v1.0.0"}, fine, []string{noBundle}),
		},
		"the first revision was made": {
			verdict: "Ready=False/RollingOut Reconciling=True",
			outcome: outcome{resolved: known(resolution.Deprecation{}), made: ptr(set(1, "1.0.0"))},
			want:    slices.Concat([]string{"Installed=False/Absent: No bundle installed", "Progressing=True/RollingOut: Revision 1.0.0 is rolling out."}, fine, []string{noBundle}),
			active:  []string{"my-1"},
		},
		"the first revision rolls out": {
			verdict:   "Ready=False/RollingOut Reconciling=True",
			revisions: revision.History{set(1, "2.0.0", rolling...)}, outcome: outcome{resolved: known(resolution.Deprecation{})},
			want: slices.Concat([]string{"Installed=False/Absent: No bundle installed", "Progressing=True/RollingOut: Revision 2.0.0 is rolling out."}, fine,
				[]string{noBundle, "Available=False/ProbeFailure: Deployment a: not ready"}),
			active: []string{"my-1 Available Progressing"},
		},
		"the first revision collides": {
			verdict:   "Ready=False/ObjectCollision Stalled=True",
			revisions: revision.History{set(1, "1.0.0", collides...)}, outcome: outcome{resolved: known(resolution.Deprecation{})},
			want:   slices.Concat([]string{"Installed=False/Failed: No bundle installed", "Progressing=True/Retrying: revision object collisions in phase deploy"}, fine, []string{noBundle}),
			active: []string{"my-1 Progressing"},
		},
		"installed": {
			verdict:   "Ready=True/Succeeded",
			revisions: revision.History{set(1, "1.0.0", done...)}, outcome: outcome{resolved: known(resolution.Deprecation{})}, version: "1.0.0", active: []string{"my-1"},
			want: slices.Concat([]string{installed1, "Progressing=True/Succeeded: Desired state reached"}, fine, []string{fineBundle, available}),
		},
		"installed, and its workload does not run any more": {
			verdict:   "Ready=False/ProbeFailure Reconciling=True",
			revisions: revision.History{set(1, "1.0.0", unhealthy...)}, outcome: outcome{resolved: known(resolution.Deprecation{})}, version: "1.0.0", active: []string{"my-1"},
			want: slices.Concat([]string{installed1, "Progressing=True/Succeeded: Desired state reached"}, fine, []string{fineBundle, "Available=False/ProbeFailure: Deployment a: no replicas"}),
		},
		"installed before, archived now": {
			verdict:   "Ready=True/Succeeded",
			revisions: revision.History{archived(set(1, "1.0.0", done...)), set(2, "1.0.0", done...)}, outcome: outcome{resolved: known(resolution.Deprecation{})}, version: "1.0.0", active: []string{"my-2"},
			want: slices.Concat([]string{installed1, "Progressing=True/Succeeded: Desired state reached"}, fine, []string{fineBundle, available}),
		},
		"an upgrade rolls out": {
			verdict:   "Ready=False/RollingOut Reconciling=True",
			revisions: revision.History{set(1, "1.0.0", done...), set(2, "2.0.0", rolling...)}, outcome: outcome{resolved: known(resolution.Deprecation{})}, version: "1.0.0",
			want:   slices.Concat([]string{installed1, "Progressing=True/RollingOut: Revision 2.0.0 is rolling out."}, fine, []string{fineBundle, available}),
			active: []string{"my-1", "my-2 Available Progressing"},
		},
		"an upgrade takes too long": {
			verdict:   "Ready=False/ProgressDeadlineExceeded Stalled=True",
			revisions: revision.History{set(1, "1.0.0", done...), set(2, "2.0.0", exceeded...)}, outcome: outcome{resolved: known(resolution.Deprecation{})}, version: "1.0.0",
			want: slices.Concat([]string{installed1, "Progressing=False/ProgressDeadlineExceeded: Revision has not rolled out for 1 minute(s). Last status: x"}, fine,
				[]string{fineBundle, available}),
			active: []string{"my-1", "my-2 Progressing"},
		},
		"an upgrade that is begun again and again": {
			verdict:   "Ready=False/CrashLoopBackOff Stalled=True",
			revisions: revision.History{set(1, "1.0.0", done...), set(2, "2.0.0", crashes...)}, outcome: outcome{resolved: known(resolution.Deprecation{})}, version: "1.0.0",
			want:   slices.Concat([]string{installed1, "Progressing=False/CrashLoopBackOff: Revision 2.0.0 does not keep running. x"}, fine, []string{fineBundle, available}),
			active: []string{"my-1", "my-2 Available Progressing"},
		},
		"a version that nothing leads to": {
			verdict:   "Ready=False/NoSuccessor Stalled=True",
			revisions: revision.History{set(1, "1.0.0", done...)}, outcome: outcome{resolved: known(resolution.Deprecation{}), conflict: none}, version: "1.0.0", active: []string{"my-1"},
			want: slices.Concat([]string{installed1, `Progressing=True/Retrying: error upgrading from currently installed version "1.0.0": no bundles found for package "a" matching version "3"`},
				fine, []string{fineBundle, available}),
		},
		"a configuration that does not fit": {
			verdict:   "Ready=False/InvalidConfiguration Stalled=True",
			revisions: revision.History{set(1, "1.0.0", done...)}, version: "1.0.0", active: []string{"my-1"},
			outcome: outcome{problem: revision.Misconfigured(errors.New("invalid ClusterExtension configuration: x"))},
			want:    slices.Concat([]string{installed1, "Progressing=False/InvalidConfiguration: invalid ClusterExtension configuration: x"}, unknown, []string{unknownBundle, available}),
		},
		"a bundle that cannot be installed": {
			verdict: "Ready=False/Blocked Stalled=True",
			outcome: outcome{problem: revision.Blocked(errors.New("invalid bundle"))},
			want:    slices.Concat([]string{"Installed=False/Failed: No bundle installed", "Progressing=False/Blocked: invalid bundle"}, unknown, []string{noBundle}),
		},
		"trouble that may pass": {
			verdict: "Ready=False/Retrying Reconciling=True",
			outcome: outcome{problem: errors.New("dial tcp 10.0.0.1:12345->10.0.0.2:443: connection refused")},
			want: slices.Concat([]string{"Installed=False/Failed: No bundle installed", "Progressing=True/Retrying: dial tcp 10.0.0.2:443: connection refused"},
				unknown, []string{noBundle}),
		},
		"the revisions cannot be read": {
			verdict: "Ready=Unknown/Retrying Reconciling=True",
			outcome: outcome{lost: errors.New("no answer")},
			want:    slices.Concat([]string{"Installed=Unknown/Failed: no answer", "Progressing=True/Retrying: retrying to get installed bundle: no answer"}, unknown, []string{noBundle}),
		},
		"deprecated without a word": {
			verdict:   "Ready=True/Succeeded",
			revisions: revision.History{set(1, "1.0.0", done...)}, version: "1.0.0", active: []string{"my-1"},
			outcome: outcome{resolved: known(resolution.Deprecation{Channels: map[string]string{"x": ""}})},
			want:    slices.Concat([]string{installed1, "Progressing=True/Succeeded: Desired state reached"}, fine, []string{fineBundle, available}),
		},
		"all of it is deprecated": {
			verdict:   "Ready=True/Succeeded",
			revisions: revision.History{set(1, "1.0.0", done...)}, version: "1.0.0", active: []string{"my-1"},
			outcome: outcome{resolved: known(resolution.Deprecation{Package: "use b", Channels: map[string]string{"y": "no y", "x": "no x"}, Installed: "old"})},
			want: []string{installed1, "Progressing=True/Succeeded: Desired state reached", "Deprecated=True/Deprecated: use b|no x|no y|old",
				"PackageDeprecated=True/Deprecated: use b", "ChannelDeprecated=True/Deprecated: no x|no y", "BundleDeprecated=True/Deprecated: old", available},
		},
	}
	var seen []string // which conditions have which reasons
	states := map[string]any{}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ext := &olmv1.ClusterExtension{}
			ext.Generation = 7
			status := view{ext: ext, revisions: test.revisions, outcome: &test.outcome}.status(time.Unix(1000, 5))
			var got []string
			for _, c := range status.Conditions {
				must.Equal(t, "observed generation", c.ObservedGeneration, 7)
				must.Equal(t, "last transition time", c.LastTransitionTime, metav1.Unix(1000, 0))
				if c.Type == olmv1.TypeSupported || slices.Contains(reconcile.VerdictTypes, c.Type) { // TestSupport
					continue
				}
				message, _, _ := strings.Cut(c.Message, "\nbundle ")
				kind := c.Type + "=" + string(c.Status) + "/" + c.Reason
				seen = append(seen, kind)
				got = append(got, kind+": "+strings.ReplaceAll(message, "\n", "|"))
			}
			must.Equal(t, "verdict", verdictIn(status.Conditions), test.verdict)
			must.Equal(t, "observed generation", status.ObservedGeneration, 7)
			must.Equal(t, "conditions, want -, got +", got, test.want)
			version := ""
			if status.Install != nil {
				version = status.Install.Bundle.Version
			}
			must.Equal(t, "version", version, test.version)
			var active []string
			for _, r := range status.ActiveRevisions {
				text := r.Name
				for _, c := range r.Conditions {
					text += " " + c.Type
				}
				active = append(active, text)
			}
			must.Equal(t, "active revisions, want -, got +", active, test.active)
			for _, kind := range olmv1.ClusterExtensionConditionTypes() {
				if !slices.ContainsFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == kind }) {
					t.Errorf("condition %s is not there", kind)
				}
			}
			ext.Status = status
			states[name] = ext.DeepCopy()
			again := view{ext: ext, revisions: test.revisions, outcome: &test.outcome}.status(time.Unix(2000, 0))
			must.Equal(t, "a later pass says something else", again, status)
		})
	}
	golden.States(t, "testdata/states.txtar", olmv1.GroupVersion.String(), olmv1.ClusterExtensionKind, states)
	slices.Sort(seen)
	if diff := cmp.Diff(specified, slices.Compact(seen)); diff != "" && !t.Failed() {
		t.Errorf("the table has other conditions and reasons than the API (-API +table):\n%s", diff)
	}
}

// TestVerdicts are those that depend on more than the other conditions of a status: what kind of conflict there is, and what stands while a catalog
// is being loaded.
func TestVerdicts(t *testing.T) {
	sound, broken := revision.History{set(1, "1.0.0", done...)}, revision.History{set(1, "1.0.0", unhealthy...)}
	conflict := func(reason resolution.Reason, unavailable ...catalog.Ref) *outcome {
		return &outcome{conflict: &resolution.Conflict{Reason: reason, Summary: "no", Unavailable: unavailable}}
	}
	loading, states := &outcome{waits: true}, map[string]any{}
	for name, test := range map[string]struct {
		before    *outcome // of the pass before
		revisions revision.History
		now       *outcome
		want      string
	}{
		"no package of the name":       {now: conflict(resolution.PackageNotFound), want: "Ready=False/PackageNotFound Stalled=True"},
		"no channel of the name":       {now: conflict(resolution.ChannelNotFound), want: "Ready=False/ChannelNotFound Stalled=True"},
		"no version in the range":      {now: conflict(resolution.VersionNotFound), want: "Ready=False/VersionNotFound Stalled=True"},
		"a catalog might have it":      {now: conflict(resolution.PackageNotFound, catalog.Ref{Name: "dog"}), want: "Ready=False/PackageNotFound Reconciling=True"},
		"no catalog yet":               {now: conflict(resolution.NoCatalog), want: "Ready=False/NoCatalog Reconciling=True"},
		"the catalog cannot be read":   {now: conflict(resolution.CatalogUnavailable), want: "Ready=False/CatalogUnavailable Reconciling=True"},
		"a dependency may be coming":   {now: conflict(resolution.DependencyMissing), want: "Ready=False/DependencyMissing Reconciling=True"},
		"is deleted":                   {revisions: sound, now: &outcome{leaving: true, doing: "removing"}, want: "Ready=False/RollingOut Reconciling=True"},
		"a catalog loads, as it was":   {before: &outcome{}, revisions: sound, now: loading, want: "Ready=True/Succeeded"},
		"a catalog loads, stalled":     {before: conflict(resolution.PackageNotFound), revisions: sound, now: loading, want: "Ready=False/PackageNotFound Stalled=True"},
		"a catalog loads, unavailable": {before: &outcome{}, revisions: broken, now: loading, want: "Ready=False/ProbeFailure Reconciling=True"},
	} {
		t.Run(name, func(t *testing.T) {
			ext := want("my", "a", "")
			ext.Generation = 3
			for _, o := range []*outcome{test.before, test.now} {
				if o != nil {
					ext.Status = view{ext: ext, revisions: test.revisions, outcome: o}.status(time.Unix(1000, 0))
				}
			}
			must.Equal(t, "verdict", verdictIn(ext.Status.Conditions), test.want)
			states[name] = ext
		})
	}
	golden.States(t, "testdata/verdicts.txtar", olmv1.GroupVersion.String(), olmv1.ClusterExtensionKind, states)
}

// verdictIn is the verdict among conditions.
func verdictIn(conditions []metav1.Condition) string {
	var out []string
	for _, kind := range reconcile.VerdictTypes {
		switch c := meta.FindStatusCondition(conditions, kind); {
		case c == nil:
		case kind == reconcile.TypeReady:
			out = append(out, kind+"="+string(c.Status)+"/"+c.Reason)
		default:
			out = append(out, kind+"="+string(c.Status))
		}
	}
	return strings.Join(out, " ")
}

// specified is every reason that the API has for every status of every condition; those of Available are mirrored from the revision.
var specified = []string{
	"Available=False/ProbeFailure", "Available=True/ProbesSucceeded",
	"BundleDeprecated=False/NotDeprecated", "BundleDeprecated=True/Deprecated", "BundleDeprecated=Unknown/Absent", "BundleDeprecated=Unknown/DeprecationStatusUnknown",
	"ChannelDeprecated=False/NotDeprecated", "ChannelDeprecated=True/Deprecated", "ChannelDeprecated=Unknown/DeprecationStatusUnknown",
	"Deprecated=False/NotDeprecated", "Deprecated=True/Deprecated", "Deprecated=Unknown/DeprecationStatusUnknown",
	"Installed=False/Absent", "Installed=False/Failed", "Installed=True/Succeeded", "Installed=Unknown/Failed",
	"PackageDeprecated=False/NotDeprecated", "PackageDeprecated=True/Deprecated", "PackageDeprecated=Unknown/DeprecationStatusUnknown",
	"Progressing=False/Blocked", "Progressing=False/CrashLoopBackOff", "Progressing=False/InvalidConfiguration", "Progressing=False/ProgressDeadlineExceeded",
	"Progressing=True/Retrying", "Progressing=True/RollingOut", "Progressing=True/Succeeded",
}

// TestStatusTellsWhichAnnotationsItKnows, because they raise no generation: who has changed one can wait until it was seen.
func TestStatusTellsWhichAnnotationsItKnows(t *testing.T) {
	ext := want("my", "a", "")
	for _, lost := range []error{nil, errGone} {
		for _, annotations := range []map[string]string{nil, {revision.OnFailureKey: "rollback"}, {revision.OnFailureKey: "rollback", desired.RollbackToKey: "1"}, {desired.RollbackToKey: "2"}, {"example.com/x": "y"}} {
			ext.Annotations = annotations
			if len(ext.Status.Conditions) > 0 && len(annotations) > 0 && annotations["example.com/x"] == "" && olmv1.SeesAnnotations(ext) {
				t.Errorf("the status of before knows %v: %v", annotations, ext.Status.Conditions)
			}
			ext.Status = view{ext: ext, outcome: &outcome{lost: lost}}.status(time.Unix(1000, 0))
			if !olmv1.SeesAnnotations(ext) {
				t.Errorf("the status does not know %v: %v", annotations, ext.Status.Conditions)
			}
			if got := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeAnnotationsSeen); (got != nil) != (annotations[revision.OnFailureKey]+annotations[desired.RollbackToKey] != "") {
				t.Errorf("with %v there is %v", annotations, got)
			}
		}
	}
}

// TestNamesOfBundles are told as the API takes them: with a name that it refuses, no status would ever be written.
func TestNamesOfBundles(t *testing.T) {
	for name, want := range map[string]string{
		"a.v1.0.0": "a.v1.0.0", "My_Operator.v1.0.0+2": "my-operator.v1.0.0-2", "_a_": "a", "my_operator_.v1.0.0": "my-operator.v1.0.0", "a..v1.0.0": "a.v1.0.0",
		"a.v1.0.0-.2": "a.v1.0.0.2", "a._v1.0.0": "a.v1.0.0", "a.v1.0.0+.1": "a.v1.0.0.1", ".-.": "bundle", "": "bundle", "Größe.v1": "gr--e.v1",
		strings.Repeat("a", 252) + "_.v1": strings.Repeat("a", 252), strings.Repeat("é", 300) + "b": "bundle", strings.Repeat("a.", 200): strings.Repeat("a.", 126) + "a",
	} {
		got := resolution.StatusName(name)
		must.Equal(t, name+" is told as", got, want)
		if problems := validation.IsDNS1123Subdomain(got); len(problems) > 0 { // the rule of status.install.bundle.name
			t.Errorf("%s is told as %s, which the API server refuses: %v", name, got, problems)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestSupport: what the catalog says of the support of what is installed, and nothing before that.
func TestSupport(t *testing.T) {
	ends := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	done := set(1, "1.0.0", metav1.Condition{Type: olmv1.TypeSucceeded, Status: metav1.ConditionTrue})
	knows := outcome{resolved: &resolution.ExtensionResult{Deprecation: &resolution.Deprecation{Catalog: "cat", Lifecycle: catalog.Lifecycle{
		Versions: []catalog.LifecycleVersion{{Name: "1.0", Phases: []catalog.LifecyclePhase{{Name: "Full", End: ends}}}}}}}}
	silent := outcome{resolved: &resolution.ExtensionResult{Deprecation: &resolution.Deprecation{Catalog: "cat"}}}
	const before = "True Supported Full, supported until 2026-12-31"
	for name, c := range map[string]struct {
		revisions revision.History
		outcome   outcome
		at        time.Time
		was, want string
	}{
		"in a phase":             {revision.History{done}, knows, ends.Add(-time.Second), "", before},
		"after it":               {revision.History{done}, knows, ends, before, "False Ended support ended on 2026-12-31"},
		"no data":                {revision.History{done}, silent, ends, "", "Unknown NoData no data: catalog cat does not say how long a.v1.0.0 is supported"},
		"catalogs are not asked": {revision.History{done}, outcome{waits: true}, ends, before, before},
		"nothing is installed":   {nil, knows, ends, "", ""},
		"it was removed":         {nil, knows, ends, before, ""},
	} {
		ext := &olmv1.ClusterExtension{}
		if c.was != "" {
			fields := strings.SplitN(c.was, " ", 3)
			ext.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeSupported, Status: metav1.ConditionStatus(fields[0]), Reason: fields[1], Message: fields[2]}}
		}
		status, got := (view{ext: ext, revisions: c.revisions, outcome: &c.outcome}).status(c.at), ""
		if is := meta.FindStatusCondition(status.Conditions, olmv1.TypeSupported); is != nil {
			got = fmt.Sprintf("%s %s %s", is.Status, is.Reason, is.Message)
		}
		must.Equal(t, name, got, c.want)
	}
}
