package preview

import (
	"strings"
)

// OperatorChange is what becomes of the objects of an operator that would be installed.
type OperatorChange struct {
	Operator string `json:"operator"`
	Replaces string `json:"replaces,omitempty"`

	Added   []string        `json:"added,omitempty"`
	Changed []ChangedObject `json:"changed,omitempty"`
	// Unchanged is how many objects stay as they are, and Unread of how many it is not known, because the user may not read them.
	Unchanged int   `json:"unchanged"`
	Unread    int   `json:"unread,omitempty"`
	CRDs      []CRD `json:"crds,omitempty"`
	// Permissions are those that come in addition, as text.
	Permissions string `json:"permissions,omitempty"`
	// Granted are the same, each with what makes it reach far.
	Granted []Granted `json:"granted,omitempty"`
	// ImagesAdded and ImagesRemoved are those of containers.
	ImagesAdded   []string `json:"imagesAdded,omitempty"`
	ImagesRemoved []string `json:"imagesRemoved,omitempty"`
	// Blocked are the reasons why the InstallPlan would write nothing.
	Blocked []string `json:"blocked,omitempty"`
	Notes   []string `json:"notes,omitempty"`

	values bool // asks for the values of changed fields
}

// write prints it as the plan of a ClusterExtension is printed.
func (o *OperatorChange) write(b *page) error {
	if o.Replaces != "" {
		b.printf("\n%s -> %s\n", o.Replaces, o.Operator)
	} else {
		b.printf("\n%s\n", o.Operator)
	}
	var text strings.Builder
	as := ExtensionPlan{Added: o.Added, Changed: o.Changed, CRDs: o.CRDs, Permissions: o.Permissions, ImagesAdded: o.ImagesAdded, ImagesRemoved: o.ImagesRemoved,
		Blocked: o.Blocked, Notes: o.Notes, Values: o.values}
	if err := as.Write(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if strings.TrimSpace(line) != "" {
			line = "  " + line
		}
		b.WriteString(line) // it is clean
	}
	return nil
}
