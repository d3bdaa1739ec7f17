package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// Annotations of a ClusterExtension, as the manager reads them.
const (
	// RollbackToKey is the number of the revision that is rolled back to.
	RollbackToKey = "operators.fairlead.dev/rollback-to"
	// ExemptionsKey remembers which of the exemptions were made for going back, so that they go with it.
	ExemptionsKey = "operators.fairlead.dev/rollback-exemptions"
	// VersionKey remembers the version that going back has pinned, and the one that was asked for before: "PINNED; BEFORE".
	VersionKey = "operators.fairlead.dev/rollback-version"
	// CRDExemptionsKey lists what the checks of CRD upgrades let pass: "CHECK [CRD [PATH]]", separated by semicolons.
	CRDExemptionsKey = "operators.fairlead.dev/crd-upgrade-exemptions"
)

// separator is between exemptions.
const separator = "; "

// Rollback is a step back, and what it does.
type Rollback struct {
	Extension string   `json:"extension"`
	From      Revision `json:"from"`
	To        Revision `json:"to"`
	// Added, Changed and Removed are objects, by kind and name.
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Blocked are the reasons not to go back; none means that nothing is lost.
	Blocked []string `json:"blocked,omitempty"`
	// Proven are what the rules for CustomResourceDefinitions would stop, and of which a check of all custom resources has shown that it does
	// no harm.
	Proven []string `json:"proven,omitempty"`
	// Warnings are what should be known, and does not stand in the way.
	Warnings []string `json:"warnings,omitempty"`

	exemptions []string
	ext        *olmv1.ClusterExtension
}

// Judge finds out what a step back to a revision does, and whether it can be made: to is its number, or 0 for the one before what is
// installed. It writes nothing.
func (h *History) Judge(ctx context.Context, reader client.Reader, to int64) (*Rollback, error) {
	target, err := h.target(to)
	if err != nil {
		return nil, err
	}
	from := h.Revisions[0]
	r := &Rollback{Extension: h.Extension, From: from, To: *target, ext: h.ext}
	at := slices.IndexFunc(h.sets, func(set olmv1.ClusterObjectSet) bool { return set.Spec.Revision == target.Number })
	before, err := revision.Content(ctx, reader, &h.sets[at])
	if err != nil {
		return nil, fmt.Errorf("go back to revision %d: %w%s", target.Number, err, h.instead(err, target.Number))
	}
	if to == 0 {
		// The revisions between the newest one and one further back that would have been rolled back to, had they not lost their content.
		var all []string
		for _, r := range h.Revisions[1:] {
			if r.Number > target.Number && len(r.Lost) > 0 && r.isOther(h.Revisions[0]) && r.State != Failed {
				all = append(all, fmt.Sprintf("revision %d is passed over: %s", r.Number, &revision.LostContentError{Losses: r.Lost}))
			}
		}
		r.Warnings = all
	}
	now, err := h.now(ctx, reader, from.Number)
	if err != nil {
		return nil, err
	}
	r.compare(now, before)
	if err := r.definitions(ctx, reader, now, before); err != nil {
		return nil, err // what was judged by then would read as if nothing were in the way
	}
	return r, nil
}

// WayBack reports why there is no revision to go back to, as far as that is known without their content: Judge reads it.
func (h *History) WayBack(to int64) error {
	_, err := h.target(to)
	return err
}

// target is the revision to go back to.
func (h *History) target(to int64) (*Revision, error) {
	if len(h.Revisions) == 0 {
		return nil, fmt.Errorf("go back: ClusterExtension %s has no revision yet", h.Extension)
	}
	from := h.Revisions[0]
	if to == from.Number {
		return nil, fmt.Errorf("go back to revision %d: it is the newest one already", to)
	}
	for i := range h.Revisions {
		r := &h.Revisions[i]
		switch {
		case to == r.Number:
			return r, nil
		case to == 0 && r.Number != from.Number && r.isOther(from) && r.State != Failed && len(r.Lost) == 0:
			return r, nil
		}
	}
	var kept []string
	for _, r := range h.Revisions[1:] {
		if to > 0 || len(r.Lost) == 0 {
			kept = append(kept, strconv.FormatInt(r.Number, 10))
		}
	}
	if len(h.Revisions) == 1 {
		return nil, fmt.Errorf("go back: revision %d is the only one that ClusterExtension %s has", from.Number, h.Extension)
	}
	if to == 0 && len(kept) == 0 {
		return nil, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("go back: the content of every earlier revision of ClusterExtension %s is lost; %s", h.Extension, revision.Restore),
			Command: "fairlead history " + h.Extension + " shows what is missing"}
	}
	if to == 0 {
		return nil, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("go back: no revision of ClusterExtension %s that is kept has another version", h.Extension), Command: "name one with --to: " + strings.Join(kept, ", ")}
	}
	return nil, fmt.Errorf("go back to revision %d: it is not kept; there is %s", to, strings.Join(kept, ", "))
}

// compare lists what differs between the objects of two revisions. What every revision writes again does not count.
func (r *Rollback) compare(now, before []*unstructured.Unstructured) {
	content := func(all []*unstructured.Unstructured) map[string]string {
		out := map[string]string{}
		for _, u := range all {
			u = u.DeepCopy()
			annotations := u.GetAnnotations()
			delete(annotations, olmv1.BundleVersionKey)
			delete(annotations, olmv1.PackageNameKey)
			u.SetAnnotations(annotations)
			text, err := json.Marshal(u.Object)
			if err != nil {
				panic("objects that were read as JSON always encode: " + err.Error())
			}
			out[migrate.RefOf(u).String()] = string(text)
		}
		return out
	}
	is, was := content(now), content(before)
	for name, text := range was {
		switch there, ok := is[name]; {
		case !ok:
			r.Added = append(r.Added, name)
		case there != text:
			r.Changed = append(r.Changed, name)
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			r.Removed = append(r.Removed, name)
		}
	}
	for _, list := range [][]string{r.Added, r.Changed, r.Removed} {
		slices.Sort(list)
	}
}

// Write prints what would change, and what is in the way.
func (r *Rollback) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterExtension %s: from revision %d (%s) back to revision %d (%s)\n", messages.Clean(r.Extension),
		r.From.Number, messages.Clean(r.From.Version), r.To.Number, messages.Clean(r.To.Version))
	for _, part := range []struct {
		title string
		lines []string
	}{{"added", r.Added}, {"changed", r.Changed}, {"removed", r.Removed}, {"checked and harmless", r.Proven}, {"to be known", r.Warnings}, {"in the way", r.Blocked}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "  %s\n", messages.Clean(line))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// isOther tells whether a revision is of another version, or of another bundle.
func (r *Revision) isOther(from Revision) bool {
	return r.Bundle != from.Bundle || r.Version != from.Version
}

// instead is what to do where the content of a revision is lost.
func (h *History) instead(err error, target int64) string {
	if !errors.As(err, new(*revision.LostContentError)) {
		return ""
	}
	var others []string
	for _, r := range h.Revisions[1:] {
		if r.Number != target && len(r.Lost) == 0 {
			others = append(others, strconv.FormatInt(r.Number, 10))
		}
	}
	if len(others) == 0 {
		return "; " + revision.Restore
	}
	return "; " + revision.Restore + ", or go back to revision " + strings.Join(others, " or ")
}

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// definitions judges what becomes of CustomResourceDefinitions and of the custom resources that are stored.
func (r *Rollback) definitions(ctx context.Context, reader client.Reader, now, before []*unstructured.Unstructured) error {
	had := map[string]bool{}
	for _, u := range before {
		if u.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		had[u.GetName()] = true
		live, err := crd.Live(ctx, reader, u.GetName())
		if err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s: %w", u.GetName(), err)
		}
		if live == nil {
			continue // it is created again
		}
		desired, err := crd.Read(u)
		if err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s of revision %d: %w", u.GetName(), r.To.Number, err)
		}
		// Ask the judge of the manager about the way back. Exemptions of the extension do not count: what goes is always reported.
		v, err := crd.Judge(ctx, crd.Change{Live: live, Desired: desired, Policy: &crd.Policy{}, Back: true}, crd.Stored{Reader: reader})
		if err != nil {
			return err
		}
		for _, f := range v.Warnings {
			r.Warnings = append(r.Warnings, f.What)
		}
		if v.Rewrites != "" {
			r.Warnings = append(r.Warnings, fmt.Sprintf("CustomResourceDefinition %s: %s", live.Name, v.Rewrites))
		}
		for _, f := range v.Proven {
			r.Proven = append(r.Proven, fmt.Sprintf("CustomResourceDefinition %s: %s (%d custom resources checked)", live.Name, f, v.Read))
			r.exemptions = append(r.exemptions, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", f.Check, live.Name, f.Path)), " "))
		}
		r.Blocked = append(r.Blocked, v.Reasons...)
	}
	for _, u := range now {
		if u.GroupVersionKind().GroupKind() != crdKind || had[u.GetName()] {
			continue
		}
		v, err := revision.Preflight{Live: reader}.DroppedBy(ctx, r.ext, r.To.Bundle, u.GetName())
		r.Blocked = append(r.Blocked, v.Reasons...)
		if err != nil {
			return err
		}
	}
	return nil
}
