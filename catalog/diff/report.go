package diff

// Op says what happened to something.
type Op string

const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)

// Kind says what a Change is about.
type Kind string

const (
	KindPackage     Kind = "package"
	KindChannel     Kind = "channel"
	KindEntry       Kind = "entry" // a bundle's place in a channel that both catalogs have
	KindEdge        Kind = "edge"  // an upgrade in such a channel
	KindBundle      Kind = "bundle"
	KindDeprecation Kind = "deprecation"
	KindObject      Kind = "object" // of a schema that is not known
)

// Report is the difference between two catalogs.
type Report struct {
	Packages []Package `json:"packages"` // those that differ, by name
	// Objects are the changes to what belongs to no package.
	Objects []Change `json:"objects,omitempty"`
}

// Package is what differs of a package.
type Package struct {
	Name string `json:"name"`
	Op   Op     `json:"op"`
	// Changes are ordered by kind and name. Of a package that was added or
	// removed they only name what it has.
	Changes      []Change      `json:"changes"`
	Consequences []Consequence `json:"consequences,omitempty"`
}

// Change is one thing that was added, removed or changed.
type Change struct {
	Op      Op     `json:"op"`
	Kind    Kind   `json:"kind"`
	Channel string `json:"channel,omitempty"` // of an entry or an edge
	Name    string `json:"name"`              // of an edge, what it leads to
	// From is where an edge comes from: a name or, of a skipRange, a range.
	From string `json:"from,omitempty"`
	// By says what makes an edge: replaces, skips or skipRange.
	By     string  `json:"by,omitempty"`
	Fields []Field `json:"fields,omitempty"` // of what was changed
}

// Field is a difference within something. One that was or is empty is not
// there. Long values are given by size and SHA-256 digest.
type Field struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Consequence is what a change means for running clusters.
type Consequence struct {
	// Breaking is set if it takes something away from them.
	Breaking bool   `json:"breaking"`
	Channel  string `json:"channel,omitempty"`
	Bundle   string `json:"bundle,omitempty"`
	Message  string `json:"message"`
}

// Empty tells whether there is no difference.
func (r *Report) Empty() bool { return len(r.Packages) == 0 && len(r.Objects) == 0 }

// Breaking counts the consequences that are.
func (r *Report) Breaking() int {
	n := 0
	for _, p := range r.Packages {
		for _, c := range p.Consequences {
			if c.Breaking {
				n++
			}
		}
	}
	return n
}
