package clusterextension

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairlead.dev/fairlead/test/must"
)

// told are the Events since the last call, but for what follows the first line of each.
func (w *world) told() []string {
	got := []string{}
	for len(w.server.Events.Events) > 0 {
		line, _, _ := strings.Cut(<-w.server.Events.Events, "\n")
		got = append(got, line)
	}
	return got
}

// TestEvents are made of what is new, once: a pass that finds the same tells nothing.
func TestEvents(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	expect := func(when string, want ...string) {
		t.Helper()
		must.Equal(t, "told", w.told(), append([]string{}, want...))
		w.pass("my")
		must.Empty(t, "again", w.told())
	}
	w.pass("my")
	expect("without a catalog", `Warning Retrying no bundles found for package "a"`)
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	expect("with one", "Normal RevisionCreated revision my-1 of bundle a.v1.0.0 rolls out")
	w.settle("my")
	expect("rolled out", "Normal Installed bundle a.v1.0.0 is installed")
	w.configure("my", `{"bad": 1}`)
	w.pass("my")
	expect("a configuration that does not fit", `Warning InvalidConfiguration invalid ClusterExtension configuration: invalid configuration: unknown field "bad"`)
	w.configure("my", `{"good": 1}`)
	w.bundles.failed["a.v1.1.0"] = errors.New("manifest unknown")
	w.settle("my")
	expect("a good one", "Normal RevisionCreated revision my-2 of bundle a.v1.0.0 rolls out")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.pass("my")
	expect("an upgrade that cannot be had", "Warning Retrying manifest unknown")
	delete(w.bundles.failed, "a.v1.1.0")
	w.clock.Step(recheck)
	w.settle("my")
	expect("the upgrade", "Normal RevisionCreated revision my-3 of bundle a.v1.1.0 rolls out", "Normal Installed bundle a.v1.1.0 is installed")
	w.version("my", "3")
	w.pass("my")
	expect("a version that nothing leads to", `Warning Retrying error upgrading from currently installed version "1.1.0": no bundles found for package "a" matching version "3"`)
}

// TestMetrics are those of docs/clusterextensions.md: they follow the installed bundle and every condition, and go with the extension.
func TestMetrics(t *testing.T) {
	w := newWorld(t, want("my", "a", ""), want("other", "b", ""))
	registry := prometheus.NewPedanticRegistry()
	must.Value(w.controller.Metrics.Register(registry))(t)
	if _, err := NewMetrics().Register(registry); err != nil {
		t.Errorf("another manager of the process cannot share them: %v", err)
	}
	const info, conditions = "fairlead_clusterextension_info", "fairlead_clusterextension_condition"
	series := func(name string) []string {
		t.Helper()
		families, err := registry.Gather()
		w.must(err)
		got := []string{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				labels := []string{}
				for _, l := range m.GetLabel() {
					labels = append(labels, l.GetValue())
				}
				if f.GetName() == name && (labels[0] == "my" || labels[1] == "my" || labels[2] == "my") {
					got = append(got, fmt.Sprintf("%s %v", strings.Join(labels, " "), m.GetGauge().GetValue()))
				}
			}
		}
		return got
	}
	expect := func(when, name string, want ...string) {
		t.Helper()
		must.Equal(t, "series", series(name), append([]string{}, want...))
	}
	w.pass("my")
	expect("nothing installed", info)
	expect("nothing installed", conditions, "my Absent BundleDeprecated -1", "my DeprecationStatusUnknown ChannelDeprecated -1",
		"my DeprecationStatusUnknown Deprecated -1", "my DeprecationStatusUnknown PackageDeprecated -1", "my Failed Installed 0", "my Retrying Progressing 1")
	w.serve("cat", pkg("a", "1.0.0"), pkg("b", "1.0.0"))
	w.settle("my")
	w.settle("other")
	expect("installed", info, "a.v1.0.0 my a 1.0.0 1")
	expect("installed", conditions, "my NoData Supported -1", "my NotDeprecated BundleDeprecated 0", "my NotDeprecated ChannelDeprecated 0", "my NotDeprecated Deprecated 0",
		"my NotDeprecated PackageDeprecated 0", "my ProbesSucceeded Available 1", "my Succeeded Installed 1", "my Succeeded Progressing 1")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"), pkg("b", "1.0.0"))
	w.settle("my")
	expect("upgraded", info, "a.v1.1.0 my a 1.1.0 1")
	ext := w.extension("my")
	w.must(w.client.Delete(t.Context(), ext))
	for range 5 {
		w.pass("my")
		for _, r := range w.revisions("my") {
			r.Finalizers = nil
			w.must(w.client.Update(t.Context(), &r))
			_ = w.client.Delete(t.Context(), &r) // it may be gone with its finalizer
		}
	}
	expect("deleted", info)
	expect("deleted", conditions)
	if got := testutil.CollectAndCount(registry, info); got != 1 {
		t.Errorf("%d series of the other extension, want 1", got)
	}
	var nobody *Metrics
	nobody.observe(&olmv1.ClusterExtension{}, &outcome{})
	nobody.forget("my")
}
