package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// States of a revision.
const (
	Installed = "installed"
	Rolling   = "rolling out"
	Failed    = "failed"
	Archived  = "archived"
)

// Revision is what was installed once, or is.
type Revision struct {
	Number  int64     `json:"revision"`
	Name    string    `json:"name"`
	Bundle  string    `json:"bundle"`
	Version string    `json:"version"`
	Image   string    `json:"image,omitempty"`
	Created time.Time `json:"created"`
	State   string    `json:"state"`
	// Message says what is in the way of one that is not installed.
	Message string `json:"message,omitempty"`
	Objects int    `json:"objects"`
	// Lost is what of its content is not there any more: it cannot be restored.
	Lost []string `json:"lost,omitempty"`
}

// History is the revisions of a ClusterExtension that are kept, the newest first.
type History struct {
	Extension string     `json:"extension"`
	PinnedTo  string     `json:"pinnedTo,omitempty"`
	Revisions []Revision `json:"revisions"`
	// Unchecked is why it is not known of all revisions whether their content is there.
	Unchecked string `json:"unchecked,omitempty"`

	sets []olmv1.ClusterObjectSet
	ext  *olmv1.ClusterExtension
}

// ReadHistory reads the history of a ClusterExtension, with what of the content of its revisions is lost.
func ReadHistory(ctx context.Context, reader client.Reader, name string) (*History, error) {
	h, err := ListHistory(ctx, reader, name)
	if err == nil {
		h.Check(ctx, reader)
	}
	return h, err
}

// ListHistory reads which revisions of a ClusterExtension are kept, and none of their content: Check finds out what of that is lost.
func ListHistory(ctx context.Context, reader client.Reader, name string) (*History, error) {
	ext := &olmv1.ClusterExtension{}
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, ext); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("read ClusterExtension %s: there is none of that name", name), Command: "fairlead list -A lists the operators of both APIs"}
		}
		return nil, fmt.Errorf("read ClusterExtension %s: %w", name, err)
	}
	sets, err := revision.List(ctx, reader, name, ext.UID)
	if err != nil {
		return nil, err
	}
	return historyOf(ext, sets), nil
}

// historyOf is the history of a ClusterExtension by its revisions, the oldest first.
func historyOf(ext *olmv1.ClusterExtension, sets []olmv1.ClusterObjectSet) *History {
	h := &History{Extension: ext.Name, PinnedTo: ext.Annotations[RollbackToKey], Revisions: []Revision{}, sets: sets, ext: ext}
	installed := false
	for i := range slices.Backward(sets) {
		set := &sets[i]
		r := Revision{Number: set.Spec.Revision, Name: set.Name, Bundle: set.Annotations[olmv1.BundleNameKey], Version: set.Annotations[olmv1.BundleVersionKey],
			Image: set.Annotations[olmv1.BundleReferenceKey], Created: set.CreationTimestamp.UTC()}
		for _, p := range set.Spec.Phases {
			r.Objects += len(p.Objects)
		}
		progressing := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
		switch {
		case set.Spec.LifecycleState == olmv1.LifecycleStateArchived:
			r.State = Archived
		case meta.IsStatusConditionTrue(set.Status.Conditions, olmv1.TypeSucceeded):
			r.State = Installed
		case progressing != nil && progressing.Status == "False":
			r.State, r.Message = Failed, progressing.Reason+": "+progressing.Message
		default:
			if r.State = Rolling; progressing != nil {
				r.Message = progressing.Message
			}
		}
		if r.State == Installed && installed {
			r.State, r.Message = Archived, "its objects go over to the newer revision"
		}
		installed = installed || r.State == Installed
		h.Revisions = append(h.Revisions, r)
	}
	return h
}

// Check finds out what of the content of the revisions is lost, which takes as long as reading all of it.
func (h *History) Check(ctx context.Context, reader client.Reader) {
	for _, err := range together(len(h.Revisions), func(i int) (err error) {
		set := &h.sets[len(h.sets)-1-i] // the newest comes first in Revisions, and last here
		h.Revisions[i].Lost, err = revision.Losses(ctx, reader, set)
		return err
	}) {
		if err != nil {
			h.Unchecked = err.Error()
		}
	}
}

// Sets are the revisions as the cluster has them, the oldest first.
func (h *History) Sets() []olmv1.ClusterObjectSet { return h.sets }

// Version is another one when the ClusterExtension or a revision has changed.
func (h *History) Version() string {
	all := []string{h.ext.ResourceVersion}
	for i := range h.sets {
		all = append(all, h.sets[i].Name+" "+h.sets[i].ResourceVersion)
	}
	return strings.Join(all, "\n")
}

// Write prints a table.
func (h *History) Write(w io.Writer) error {
	rows := [][]string{{"REVISION", "VERSION", "BUNDLE", "STATE", "CREATED", "OBJECTS", "NOTE"}}
	for _, r := range h.Revisions {
		var notes []string
		if len(r.Lost) > 0 {
			notes = append(notes, "its content is lost: "+strings.Join(r.Lost, "; "))
		}
		if r.Message != "" {
			notes = append(notes, r.Message)
		}
		rows = append(rows, []string{strconv.FormatInt(r.Number, 10), r.Version, r.Bundle, r.State, r.Created.Format("2006-01-02 15:04:05"), strconv.Itoa(r.Objects), strings.Join(notes, "; ")})
	}
	var b strings.Builder
	b.WriteString(messages.Table(rows...))
	if len(h.Revisions) == 0 {
		b.Reset()
		fmt.Fprintf(&b, "ClusterExtension %s has no revision yet\n", messages.Clean(h.Extension))
	}
	if h.PinnedTo != "" {
		fmt.Fprintf(&b, "pinned to revision %s: catalogs do not matter until `fairlead upgrade %s` takes that back\n", messages.Clean(h.PinnedTo), messages.Clean(h.Extension))
	}
	if h.Unchecked != "" {
		fmt.Fprintf(&b, "not checked whether the content of the revisions is there: %s\n", messages.Clean(h.Unchecked))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// now is what a step back starts from: the objects of the newest revision, and of every other one that is not archived. While a revision is
// rolled out, or is stuck, the one before has still the objects that the new one does without. Of several the newest counts.
func (h *History) now(ctx context.Context, reader client.Reader, newest int64) ([]*unstructured.Unstructured, error) {
	type key struct {
		kind schema.GroupKind
		client.ObjectKey
	}
	seen := map[key]bool{}
	var all []*unstructured.Unstructured
	for i := range slices.Backward(h.sets) {
		set := &h.sets[i]
		if set.Spec.Revision != newest && set.Spec.LifecycleState == olmv1.LifecycleStateArchived {
			continue
		}
		objects, err := revision.Content(ctx, reader, set)
		if errors.As(err, new(*revision.LostContentError)) {
			return nil, fmt.Errorf("compare with revision %d, to see what would be lost: %w; %s", set.Spec.Revision, err, revision.Restore)
		}
		if err != nil {
			return nil, fmt.Errorf("compare with revision %d: %w", set.Spec.Revision, err)
		}
		for _, u := range objects {
			k := key{u.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(u)}
			if !seen[k] {
				seen[k] = true
				all = append(all, u)
			}
		}
	}
	return all, nil
}
