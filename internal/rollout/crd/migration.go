package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// owner is the field manager of what a migration writes.
const owner = client.FieldOwner("fairlead-storage-migration")

// Migration rewrites the objects of a CRD in the version that it stores now, so that other versions can go.
type Migration struct {
	Client client.Client
	// Reader must not lag behind: a cache may not be used.
	Reader client.Reader
	Live   *definition
	// Leaving are the versions that are to go, or whose objects no one can convert any more; Live stores objects in none of them.
	Leaving []string
	// Unconverted tells that it is the conversion webhook that goes.
	Unconverted bool
	Now         time.Time
}

// settleTime is given to API servers to take note of a change of the versions of a CRD. One that has not might go on storing objects as
// before, behind the back of a migration. No one can ask all of them: they are behind one address. It is the time that an API server
// itself grants the others before it calls a new CRD established.
const settleTime = 5 * time.Second

// Progress is how far a migration is.
type Progress struct {
	Rewritten int64
	// Left is about how many objects remain; -1 is more, where the API server does not estimate how many.
	Left int64
	// Done tells that no object is stored in the leaving versions, and that the status of the CRD says so.
	Done bool
}

// Rewrite rewrites some pages of objects, and returns what is still to be rewritten; empty means that the new CRD can replace the live one.
func (m Migration) Rewrite(ctx context.Context, count int) (waiting string, _ error) {
	if len(m.Leaving) == 0 {
		return "", nil
	}
	progress, err := m.Advance(ctx, count)
	switch {
	case errors.As(err, new(*RewriteError)), errors.As(err, new(*LossError)):
		return "", fmt.Errorf("risk of data loss updating %q: %w", m.Live.Name, err)
	case err != nil:
		return "", fmt.Errorf("upgrade CustomResourceDefinition %s: %w", m.Live.Name, err)
	case progress.Done:
		return "", nil
	}
	why := "does not have version %s any more, so the objects that may be stored in it"
	if m.Unconverted {
		why = "does without its conversion webhook, so the objects that may be stored as %s"
	}
	left := fmt.Sprintf("about %d", progress.Left)
	if progress.Left < 0 {
		left = "more"
	}
	return fmt.Sprintf("CustomResourceDefinition %s: the new one "+why+" are rewritten as %s: %d done, %s to go",
		m.Live.Name, strings.Join(m.Leaving, ", "), StorageVersion(m.Live), progress.Rewritten, left), nil
}

// Advance rewrites some pages of objects. An object that cannot be rewritten stops it there: it would be lost with its version.
func (m Migration) Advance(ctx context.Context, count int) (Progress, error) {
	version := ReadVersion(m.Live)
	if version == "" {
		return Progress{}, fmt.Errorf("rewrite the %s objects that may be stored as %s: no version is served to write them in; "+
			"set served: true for the version that is stored", m.Live.Name, strings.Join(m.Leaving, ", "))
	}
	at := positionOf(m.Live, m.Leaving)
	if m.Now.Before(versionsChanged(m.Live).Add(settleTime)) || m.Now.Before(m.Live.CreationTimestamp.Add(settleTime)) {
		return Progress{Rewritten: at.Rewritten, Left: -1}, nil
	}
	way := pages{reader: m.Reader, token: at.Token}
	for range count {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(listIn(m.Live, version))
		err := way.next(ctx, list, largestPage)
		if err != nil {
			at.Token = way.token // it is another one, or none, when it has expired
			err = fmt.Errorf("list the %s objects that may be stored as %s: %w", m.Live.Name, strings.Join(m.Leaving, ", "), err)
		} else if err = m.keepsAll(list); err == nil {
			err = m.rewrite(ctx, list, version)
		}
		if err != nil {
			if at.Token != positionOf(m.Live, m.Leaving).Token { // what was done before is kept
				err = errors.Join(err, m.note(ctx, &at))
			}
			return Progress{Rewritten: at.Rewritten, Left: way.left}, err
		}
		at.Rewritten += int64(len(list.Items))
		at.Token = way.token
		if way.ended {
			// Take the versions off the status, provided that the CRD is still the one that the objects were rewritten for.
			if err := m.clean(ctx); err != nil {
				return Progress{Rewritten: at.Rewritten}, fmt.Errorf("take %s off the stored versions of %s: %w", strings.Join(m.Leaving, ", "), m.Live.Name, err)
			}
			done := Progress{Rewritten: at.Rewritten, Done: true}
			if m.Live.Annotations[PositionAnnotation] == "" {
				return done, nil
			}
			return done, m.note(ctx, nil)
		}
	}
	return Progress{Rewritten: at.Rewritten, Left: way.left}, m.note(ctx, &at)
}

// versionsChanged is when a user last wrote the versions of a CRD, as far as is known.
func versionsChanged(crd *definition) time.Time {
	var last time.Time
	for _, entry := range crd.ManagedFields {
		if entry.Time != nil && entry.FieldsV1 != nil && entry.Time.After(last) && strings.Contains(entry.FieldsV1.GetRawString(), `"f:versions"`) {
			last = entry.Time.Time
		}
	}
	return last
}

func (m Migration) clean(ctx context.Context) error {
	now := &definition{}
	if err := m.Reader.Get(ctx, client.ObjectKeyFromObject(m.Live), now); err != nil {
		return err
	}
	if now.UID != m.Live.UID || now.Generation != m.Live.Generation {
		return errChanged
	}
	kept := slices.DeleteFunc(slices.Clone(now.Status.StoredVersions), func(v string) bool { return slices.Contains(m.Leaving, v) })
	if len(kept) == len(now.Status.StoredVersions) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": now.ResourceVersion}, "status": map[string]any{"storedVersions": kept}})
	if err != nil {
		return err
	}
	return m.Client.Status().Patch(ctx, now, client.RawPatch(types.MergePatchType, patch), owner)
}

// PositionAnnotation is where a CRD says how far its objects have been rewritten.
const PositionAnnotation = "operators.fairlead.dev/storage-migration"

// position is how far a migration is. All objects before the token are stored as they should be, as long as the rest is true.
type position struct {
	UID        types.UID `json:"uid"`        // of the CRD: a copy of it, as of a backup, begins again
	Generation int64     `json:"generation"` // likewise one whose versions have changed
	Leaving    []string  `json:"leaving"`
	Storage    string    `json:"storage"`
	Rewritten  int64     `json:"rewritten"`
	Token      string    `json:"continue"`
}

// positionOf reads where a migration continues.
func positionOf(crd *definition, leaving []string) position {
	start := position{UID: crd.UID, Generation: crd.Generation, Leaving: leaving, Storage: StorageVersion(crd)}
	var noted position
	if json.Unmarshal([]byte(crd.Annotations[PositionAnnotation]), &noted) != nil {
		return start
	}
	same := noted.UID == start.UID && noted.Generation == start.Generation && noted.Storage == start.Storage && slices.Equal(noted.Leaving, leaving)
	if !same {
		return start
	}
	return noted
}

// note writes the position on the CRD; nil removes it.
func (m Migration) note(ctx context.Context, at *position) error {
	var value any
	if at != nil {
		text, err := json.Marshal(at)
		if err != nil {
			return fmt.Errorf("note how far the objects of %s are rewritten: %w", m.Live.Name, err)
		}
		value = string(text)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{PositionAnnotation: value}}})
	if err != nil {
		return fmt.Errorf("note how far the objects of %s are rewritten: %w", m.Live.Name, err)
	}
	crd := &definition{}
	crd.Name = m.Live.Name
	if err := m.Client.Patch(ctx, crd, client.RawPatch(types.MergePatchType, patch), owner); err != nil {
		return fmt.Errorf("note how far the objects of %s are rewritten: %w", m.Live.Name, err)
	}
	return nil
}
