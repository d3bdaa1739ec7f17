package crd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// ErrCost says that the rules of a schema cost more than they may.
var ErrCost = errors.New("the rules in x-kubernetes-validations cost too much")

// Validator says which objects an upgrade makes invalid.
type Validator struct {
	group    string
	versions []comparison
}

// comparison is a version before and after.
type comparison struct {
	version string
	new     *compiledSchema
	old     func() (*compiledSchema, error) // made when it is needed: most objects meet the new one
}

// NewValidator prepares the schemas of some versions, which both CRDs have.
func NewValidator(live, wanted *definition, versions []string) (*Validator, error) {
	v := &Validator{group: wanted.Spec.Group}
	for _, name := range versions {
		if versionOf(live, name) == nil || versionOf(wanted, name) == nil {
			return nil, fmt.Errorf("compare version %s of CustomResourceDefinition %s: it is not there both before and after", name, wanted.Name)
		}
		after, err := newSchema(wanted, name)
		if err != nil {
			return nil, err
		}
		before := sync.OnceValues(func() (*compiledSchema, error) { return newSchema(live, name) })
		v.versions = append(v.versions, comparison{version: name, old: before, new: after})
	}
	return v, nil
}

// Problem is what an upgrade makes wrong with one object.
type Problem struct {
	Version string
	// Path is the field, e.g. ^.spec.replicas.
	Path string
	What string
}

// String is the problem in one line.
func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Version, p.Path, p.What) }

// Cost is the budget that is enough for any one object, because what the rules for one may cost is limited anyway.
func (v *Validator) Cost() int64 {
	return 2 * celconfig.RuntimeCELCostBudget * int64(max(1, len(v.versions)))
}

// Check says what the upgrade makes wrong with an object: what the new schema finds and the old one does not. As is one version to look
// at, for objects that were read in it; an empty one checks all, for objects that are the same in all versions. The budget is what rules
// may cost; it is reduced by what they did cost, and ErrCost is returned when it is used up. The object is not changed.
func (v *Validator) Check(ctx context.Context, object map[string]any, as string, budget *int64) ([]Problem, error) {
	var problems []Problem
	for _, c := range v.versions {
		if as != "" && as != c.version {
			continue
		}
		now, err := c.new.validate(ctx, v.group+"/"+c.version, object, budget)
		if err != nil {
			return nil, err
		}
		if len(now) == 0 {
			continue
		}
		old, err := c.old()
		if err != nil {
			return nil, err
		}
		before, err := old.validate(ctx, v.group+"/"+c.version, object, budget)
		if err != nil {
			return nil, err
		}
		for _, wrong := range since(before, now) {
			path, what := "^", wrong.Type.String()
			if wrong.Field != "" && wrong.Field != "<nil>" {
				path = "^." + short(wrong.Field)
			}
			if wrong.Detail != "" { // without the value, which may be secret
				what = short(wrong.Detail)
			}
			problems = append(problems, Problem{Version: c.version, Path: path, What: what})
		}
	}
	return problems, nil
}
