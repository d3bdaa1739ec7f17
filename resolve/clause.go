package resolve

// Origin tells where a clause comes from, so that an explanation can name what to edit.
type Origin struct {
	// Object is what holds the rule, such as "Subscription operators/etcd" or the name of a bundle.
	Object string `json:"object,omitempty"`
	// Field is the place inside Object, such as "spec.channel" or "properties[3]". The needs of one Var are visited
	// in the order of their Fields, digits compared as numbers.
	Field string `json:"field,omitempty"`
	// Catalog and Digest name the content that the rule was read from.
	Catalog string `json:"catalog,omitempty"`
	Digest  string `json:"digest,omitempty"`
	// Text is the rule as a sentence for people, without a full stop.
	Text string `json:"text"`
	// Alike, if any, is the rule without its subject. Rules that share it are told on one line, such as the same
	// missing package for each version of an operator.
	Alike string `json:"-"`
	// Hint, if any, says what to do when this rule stands in the way.
	Hint string `json:"hint,omitempty"`
}

// Kind is the sort of a clause.
type Kind string

const (
	Mandatory   Kind = "mandatory"  // Subject must be selected
	Prohibited  Kind = "prohibited" // Subject must not be selected
	Dependency  Kind = "dependency" // Subject needs one of Others
	Conflicting Kind = "conflict"   // the two Others exclude each other
	Limited     Kind = "atMost"     // at most Limit of Others
	Compound    Kind = "compound"   // Subject needs a formula over Others
	Assumed     Kind = "assumed"    // Subject was chosen earlier or is being asked about (WhyNot only)
)

// Clause is one rule of a problem, by ids: the machine form of an explanation.
type Clause struct {
	Kind    Kind     `json:"kind"`
	Subject string   `json:"subject,omitempty"`
	Others  []string `json:"others,omitempty"`
	Limit   int      `json:"limit,omitempty"`
	Origin  Origin   `json:"origin"`
}
