package version

import (
	"errors"
	"fmt"
	"strings"

	masterminds "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"
)

// Constraint is a set of versions in the grammar of ClusterExtension's
// spec.version: comparisons (=, !=, <, <=, >, >=, ~, ^), wildcards (x, X, *)
// and hyphen ranges, joined by spaces or commas for "and" and by "||" for
// "or". A pre-release is contained only where the constraint itself names one.
// The zero Constraint is no constraint and contains nothing.
type Constraint struct {
	text  string
	check *masterminds.Constraints
}

// ParseConstraint reads a constraint such as ">=1.11, <1.13", "1.11.x" or "^2".
func ParseConstraint(s string) (Constraint, error) {
	if err := checkLength("version range", s); err != nil {
		return Constraint{}, err
	}
	// Refuse what the parser would take for "any version": an empty constraint, or an empty side of "||".
	for side := range strings.SplitSeq(s, "||") {
		if strings.TrimSpace(side) == "" {
			return Constraint{}, constraintError(s, errors.New("it is empty, or one side of \"||\" is"))
		}
		if strings.Contains(side, "|") {
			return Constraint{}, constraintError(s, errors.New("a single \"|\" means nothing"))
		}
	}
	check, err := masterminds.NewConstraint(s)
	if err != nil {
		return Constraint{}, constraintError(s, err)
	}
	return Constraint{text: s, check: check}, nil
}

func constraintError(s string, err error) error {
	return fmt.Errorf("version range %q is not a range such as \">=1.2, <2\", \"1.2.x\" or \"1.2.3\": %w", clip(s), err)
}

// Contains tells whether the constraint selects v. Build metadata does not
// count.
func (c Constraint) Contains(v semver.Version) bool {
	if c.check == nil {
		return false
	}
	pre := make([]string, len(v.Pre))
	for i, id := range v.Pre {
		pre[i] = id.String()
	}
	return c.check.Check(masterminds.New(v.Major, v.Minor, v.Patch, strings.Join(pre, "."), strings.Join(v.Build, ".")))
}

// IsZero tells whether there is no constraint.
func (c Constraint) IsZero() bool { return c.check == nil }

// String is the text the constraint was parsed from.
func (c Constraint) String() string { return c.text }

// Equal tells whether both constraints were parsed from the same text.
func (c Constraint) Equal(o Constraint) bool {
	return c.text == o.text && c.IsZero() == o.IsZero()
}
