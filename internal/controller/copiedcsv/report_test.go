package copiedcsv

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/test/must"
)

// report reconciles the OLMConfig, until all is reported that it waits with, and returns its condition as status/reason and the message.
func (k *cluster) report() (state, message string) {
	k.t.Helper()
	if wait := k.look(); wait > 0 {
		k.clock.SetTime(k.clock.Now().Add(wait))
		k.look()
	}
	config := &v1.OLMConfig{}
	must.NoError(k.t, k.client.Get(k.t.Context(), types.NamespacedName{Name: "cluster"}, config))
	c := meta.FindStatusCondition(config.Status.Conditions, "DisabledCopiedCSVs")
	if c == nil {
		return "", ""
	}
	return string(c.Status) + "/" + c.Reason, c.Message
}

// statusWrites are those since the last call, without those of Events.
func (k *cluster) statusWrites() []string {
	return slices.DeleteFunc(k.api.Taken(), func(write string) bool { return strings.Contains(write, " Event ") })
}

// look reconciles the OLMConfig once, and returns when it is reconciled again.
func (k *cluster) look() time.Duration {
	k.t.Helper()
	result, err := k.reporter.Reconcile(k.t.Context(), reconcile.Request{})
	must.NoError(k.t, err)
	return result.RequeueAfter
}

// TestAToggleIsOneWrite of the condition, though the OLMConfig is reconciled after each copy that comes or goes; only when copies are left for long, that is
// reported in between, and no more than every minute which.
func TestAToggleIsOneWrite(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf("n%02d", i))
	}
	k := newCluster(t, append(namespaces(append(all, ns)...), group(""), operator("op.v1"), olmConfig())...)
	k.settle()
	k.report()
	for _, disabled := range []bool{true, false} {
		change(k, &v1.OLMConfig{}, "", "cluster", func(c *v1.OLMConfig) { disable(disabled)(c); c.Generation++ })
		k.api.Taken()
		for _, namespace := range all {
			k.look()
			k.pass(namespace, "op.v1")
			k.clock.SetTime(k.clock.Now().Add(200 * time.Millisecond))
		}
		k.look()
		must.Equal(t, fmt.Sprintf("writes, disabled %t", disabled), k.statusWrites(), []string{"patch status OLMConfig cluster"})
		if state, message := k.report(); state != map[bool]string{true: "True/CopiedCSVsDisabled", false: "False/CopiedCSVsEnabled"}[disabled] || strings.Contains(message, "at least") {
			t.Errorf("disabled %t: %s %s", disabled, state, message)
		}
	}
	change(k, &v1.OLMConfig{}, "", "cluster", func(c *v1.OLMConfig) { disable(true)(c); c.Generation++ })
	k.api.Taken()
	for _, namespace := range all[:30] {
		k.look()
		k.pass(namespace, "op.v1")
		k.clock.SetTime(k.clock.Now().Add(time.Second))
	}
	must.Equal(t, "writes", k.statusWrites(), []string{"patch status OLMConfig cluster"})
	k.clock.SetTime(k.clock.Now().Add(time.Minute))
	if state, message := k.report(); state != "False/CopiedCSVsDisabled" || !strings.HasSuffix(message, "n30/op.v1") {
		t.Errorf("slowly: %s %s", state, message)
	}
}

// TestGlobalOperatorsOfOneName share the namespaces: what is there of one is not missing of the other.
func TestGlobalOperatorsOfOneName(t *testing.T) {
	other, second := group(""), operator("op.v1")
	other.Namespace = "b"
	second.Namespace, second.UID, second.Annotations["olm.operatorNamespace"] = "b", "second", "b"
	k := newCluster(t, append(namespaces(ns, "a", "b", "c"), group(""), other, operator("op.v1"), second, olmConfig())...)
	k.settle()
	if state, message := k.report(); state != "False/CopiedCSVsEnabled" || message != "Copied CSVs are enabled and present across the cluster" {
		t.Errorf("%s: %s", state, message)
	}
	delete(k.server.objects, types.NamespacedName{Namespace: "c", Name: "op.v1"})
	if _, message := k.report(); !strings.HasSuffix(message, "missing: c/op.v1") {
		t.Error(message)
	}
}

func (k *cluster) events() []corev1.Event {
	k.t.Helper()
	var list corev1.EventList
	must.NoError(k.t, k.client.List(k.t.Context(), &list))
	return list.Items
}

func disable(yes bool) func(*v1.OLMConfig) {
	return func(c *v1.OLMConfig) { c.Spec.Features = &v1.Features{DisableCopiedCSVs: &yes} }
}

func olmConfig() *v1.OLMConfig {
	c := &v1.OLMConfig{}
	c.Name = "cluster"
	return c
}

// TestDisabling removes the copies of operators that watch all namespaces, says so in the condition and in one Event, and
// enabling brings all of it back.
func TestDisabling(t *testing.T) {
	single := operator("single.v1")
	single.Namespace, single.Annotations["olm.operatorNamespace"] = "b", "b"
	own := group("a")
	own.Namespace = "b"
	k := newCluster(t, append(namespaces(ns, "a", "b", "kept"), group(""), own, operator("op.v1"), single, olmConfig())...)
	k.c.limits.protected = []string{"kept"}
	check := func(state, words, where string, events int) {
		t.Helper()
		gotState, message := k.report()
		if gotState != state || !strings.Contains(message, words) {
			t.Errorf("condition %s %q, want %s %q", gotState, message, state, words)
		}
		must.Equal(t, "copies in", k.where("op.v1"), where)
		if got := k.where("single.v1"); got != "" && got != "a" {
			t.Errorf("copies of an operator with one target in %q", got)
		}
		if got := k.events(); len(got) != events {
			t.Errorf("events: %v", got)
		}
		k.api.Taken()
		k.report()
		must.Empty(t, "writes though nothing has changed", k.api.Taken())
	}
	check("False/CopiedCSVsEnabled", "at least one copied CSV is missing", "", 0)
	k.settle()
	check("False/CopiedCSVsEnabled", "present across the cluster", "a b kept", 0)
	change(k, &v1.OLMConfig{}, "", "cluster", disable(true))
	check("False/CopiedCSVsDisabled", "at least one unexpected copied CSV was found", "a b kept", 1)
	k.settle()
	k.reporter.told = nil // after a restart there is no second Event
	check("True/CopiedCSVsDisabled", "no unexpected copied CSVs", "kept", 1)
	if e := k.events()[0]; e.Type != "Warning" || e.Reason != "DisabledCopiedCSVs" || e.Message != "CSV copying disabled for operators/op.v1" || e.InvolvedObject.Name != "op.v1" || e.InvolvedObject.Kind != "ClusterServiceVersion" || e.Source.Component != "operator-lifecycle-manager" {
		t.Errorf("event %+v", e)
	}
	k.quiet()
	change(k, &v1.OLMConfig{}, "", "cluster", disable(false))
	check("False/CopiedCSVsEnabled", "missing", "kept", 0)
	k.settle()
	check("False/CopiedCSVsEnabled", "present across the cluster", "a b kept", 0)
}

// TestWithoutConfig nothing is reported, and everything is copied.
func TestWithoutConfig(t *testing.T) {
	k := newCluster(t, append(namespaces(ns, "a"), group(""), operator("op.v1"))...)
	if _, err := k.reporter.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Error(err)
	}
	k.settle()
	must.Equal(t, "copies in", k.where("op.v1"), "a")
}

// TestOnlyTheConfigThatIsCalledCluster counts.
func TestOnlyTheConfigThatIsCalledCluster(t *testing.T) {
	other := olmConfig()
	other.Name = "other"
	disable(true)(other)
	k := newCluster(t, append(namespaces(ns, "a"), group(""), operator("op.v1"), other)...)
	k.settle()
	if _, err := k.reporter.Reconcile(t.Context(), reconcile.Request{}); err != nil || k.where("op.v1") != "a" || k.api.Made() != 0 || len(k.events()) != 0 {
		t.Errorf("copies in %q, %d statuses, %v (%v)", k.where("op.v1"), k.api.Made(), k.events(), err)
	}
}

// TestNamespacesWithAnOperatorOfTheSameName miss nothing.
func TestNamespacesWithAnOperatorOfTheSameName(t *testing.T) {
	own := operator("op.v1")
	own.Namespace, own.Annotations["olm.operatorNamespace"] = "a", "a"
	k := newCluster(t, append(namespaces(ns, "a"), group(""), operator("op.v1"), own, olmConfig())...)
	if state, message := k.report(); !strings.Contains(message, "present") {
		t.Errorf("condition %s %q", state, message)
	}
}
