package crd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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

// positionOf reads where a migration goes on.
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
