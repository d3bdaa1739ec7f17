package crd

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Written is an object whose last writer used one of the versions that go.
type Written struct {
	Namespace, Name string
	Version         string
}

// String names the object and the version.
func (w Written) String() string { return nameIn(w.Namespace, w.Name) + ": " + w.Version }

// write counts an object that was last written in one of the versions that go.
func (t *Tally) write(object *unstructured.Unstructured, version string) {
	if version == "" {
		return
	}
	t.Written++
	if len(t.Writes) < sampled {
		t.Writes = append(slices.Clip(t.Writes), Written{object.GetNamespace(), object.GetName(), version})
	}
}

// lastWrittenIn is the one of the versions that an object was last written in, by the record of its managed fields; empty is none of them. Of writes in
// the same second each counts as the last one.
func lastWrittenIn(object *unstructured.Unstructured, group string, versions []string) string {
	if len(versions) == 0 {
		return ""
	}
	var last time.Time
	in := ""
	for _, entry := range object.GetManagedFields() {
		var at time.Time
		if entry.Time != nil {
			at = entry.Time.Time
		}
		if at.Before(last) {
			continue
		}
		if at.After(last) {
			last, in = at, ""
		}
		if version, found := strings.CutPrefix(entry.APIVersion, group+"/"); found && slices.Contains(versions, version) {
			in = version
		}
	}
	return in
}
