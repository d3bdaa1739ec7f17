package crdupgrade

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// violation is one way in which an object does not meet a schema.
type violation struct {
	*field.Error
	rule bool // of a rule in x-kubernetes-validations
}

// identity is by what a violation is recognised. A value that was too small may be even more so: the limit is no part of it. The texts
// of rules are, because several may be broken at one path.
func (v violation) identity() string {
	if v.rule {
		return fmt.Sprintf("rule %s %s %s", v.Field, v.Type, v.Detail)
	}
	return fmt.Sprintf("schema %s %s", v.Field, v.Type)
}

// path is the field in the form of findings.
func (v violation) path() string {
	if v.Field == "" || v.Field == "<nil>" {
		return "^"
	}
	return "^." + short(v.Field)
}

// text says what is wrong without the value: that may be secret.
func (v violation) text() string {
	if v.Detail == "" {
		return v.Type.String()
	}
	return short(v.Detail)
}

// validate is what the API server would say if the object were written in the version.
func (s *schema) validate(ctx context.Context, apiVersion string, object map[string]any, budget *int64) ([]violation, error) {
	read := runtime.DeepCopyJSON(object)
	read["apiVersion"] = apiVersion
	s.read(read)
	errs := validation.ValidateCustomResource(nil, read, s.openapi)
	errs = append(errs, objectmeta.Validate(nil, read, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, read)...)
	var all []violation
	for _, e := range errs {
		all = append(all, violation{Error: e})
	}
	if s.rules == nil || blocksRules(errs) {
		return all, nil
	}
	broken, err := s.evaluate(ctx, read, budget)
	for _, e := range broken {
		all = append(all, violation{Error: e, rule: true})
	}
	return all, err
}

// evaluate asks the rules, within what one object may cost and what is left for all.
func (s *schema) evaluate(ctx context.Context, object map[string]any, budget *int64) (field.ErrorList, error) {
	allowed := min(*budget, celconfig.RuntimeCELCostBudget)
	broken, left := s.rules.Validate(ctx, nil, s.structural, object, nil, allowed)
	*budget -= allowed - max(left, 0)
	if left < 0 && allowed < celconfig.RuntimeCELCostBudget {
		return nil, ErrCost
	}
	return broken, nil
}

// blocksRules tells whether an object is too far from its schema for rules to be evaluated.
func blocksRules(errs field.ErrorList) bool {
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
