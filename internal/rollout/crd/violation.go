package crd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// violation is one way in which an object does not meet a schema.
type violation struct {
	*field.Error
	rule   string // which of the rules for the field is broken
	choice bool   // it is oneOf, anyOf or not
	limit  bool   // of several rules of this kind the strictest counts, as of two lengths that a text may have at most
}

// identity is by what a violation is recognised: the field and the rule. A value that was too large may be even more so, so the limit is
// no part of it.
func (v violation) identity() string { return v.Field + "\x00" + v.rule }

// exact also tells apart what the same keyword demands of a field in several places, as patterns in allOf.
func (v violation) exact() string { return v.identity() + "\x00" + v.Detail }

// since are the violations that there were not before. Those that say the same are matched first, so that of two patterns the one is told
// which is broken now; what is left may be a rule that was changed.
func since(before, now []violation) []violation {
	exact, similar := map[string]int{}, map[string]int{}
	for _, v := range before {
		exact[v.exact()]++
		similar[v.identity()]++
	}
	var left []violation
	for _, v := range now {
		if exact[v.exact()] > 0 {
			exact[v.exact()]--
			if !v.limit {
				similar[v.identity()]--
			}
			continue
		}
		left = append(left, v)
	}
	var found []violation
	for _, v := range left {
		switch known := similar[v.identity()] > 0; {
		case !known:
			found = append(found, v)
		case !v.limit:
			similar[v.identity()]--
		}
	}
	return found
}

// validate is what the API server would say if the object were written in the version.
func (s *compiledSchema) validate(ctx context.Context, apiVersion string, object map[string]any, budget *int64) ([]violation, error) {
	read := runtime.DeepCopyJSON(object)
	read["apiVersion"] = apiVersion
	s.read(read)
	all := s.keywords(read)
	for _, e := range append(objectmeta.Validate(nil, read, s.structural, false), listtype.ValidateListSetsAndMaps(nil, s.structural, read)...) {
		all = append(all, violation{Error: e, rule: "structure " + e.Type.String()})
	}
	// An object may be too far from its schema for rules to be evaluated.
	blocking := []field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}
	if s.rules() == nil || slices.ContainsFunc(all, func(v violation) bool { return slices.Contains(blocking, v.Type) }) {
		return all, nil
	}
	allowed := min(*budget, celconfig.RuntimeCELCostBudget) // what one object may cost, and what is left for all
	broken, left := s.rules().Validate(ctx, nil, s.structural, read, nil, allowed)
	if err := ctx.Err(); err != nil {
		return nil, err // rules that were interrupted look like broken ones
	}
	*budget -= allowed - max(left, 0)
	if left < 0 && allowed < celconfig.RuntimeCELCostBudget {
		return nil, ErrCost
	}
	for _, e := range broken {
		all = append(all, violation{Error: e, rule: fmt.Sprintf("rule %s %s", e.Type, e.Detail)})
	}
	return all, nil
}

// keywords are the violations of what a schema says without rules, such as maximum and required. Where nothing fits that can be chosen
// from, the errors of what fits best come along; but they are no violations by themselves.
func (s *compiledSchema) keywords(object map[string]any) []violation {
	var all []violation
	for _, broken := range s.openapi.Validate(object).Errors {
		if v := violationOf(object, broken); !summary.MatchString(broken.Error()) && (s.choiceless == nil || v.choice) {
			all = append(all, v)
		}
	}
	if s.choiceless == nil {
		return all
	}
	for _, broken := range s.choiceless.Validate(object).Errors {
		if !summary.MatchString(broken.Error()) {
			all = append(all, violationOf(object, broken))
		}
	}
	return all
}

// verdict has one error put into the words of the API server.
type verdict struct{ err error }

// Validate implements validation.SchemaCreateValidator.
func (v verdict) Validate(any, ...validation.ValidationOption) *validate.Result {
	return &validate.Result{Errors: []error{v.err}}
}

// choiceText is an error about oneOf, anyOf or not, which has its field in the text alone.
var choiceText = regexp.MustCompile(`^"([^"]*)" (must validate (?:at least one|one and only one)|must not validate) .*$`)

// summary is an error that says of allOf what the errors beside it say one by one.
var summary = regexp.MustCompile(`^"[^"]*" must validate all the schemas \(allOf\)`)

// limits are the codes of keywords of which the strictest counts.
var limits = map[int32]bool{
	openapierrors.TooLongFailCode: true, openapierrors.TooShortFailCode: true, openapierrors.MaxFailCode: true, openapierrors.MinFailCode: true,
	openapierrors.MaxItemsFailCode: true, openapierrors.MinItemsFailCode: true, openapierrors.TooManyPropertiesCode: true, openapierrors.TooFewPropertiesCode: true,
}

// violationOf puts an error into the words of the API server, and tells which keyword of the schema it is about.
func violationOf(object map[string]any, err error) violation {
	e := validation.ValidateCustomResource(nil, object, verdict{err})[0]
	var known *openapierrors.Validation
	if errors.As(err, &known) {
		return violation{Error: e, rule: fmt.Sprintf("keyword %d", known.Code()), limit: limits[known.Code()]}
	}
	if parts := choiceText.FindStringSubmatch(err.Error()); parts != nil {
		said := *e
		said.Field, said.Detail = strings.TrimPrefix(parts[1], "."), strings.TrimPrefix(err.Error(), `"`+parts[1]+`" `)
		return violation{Error: &said, rule: parts[2], choice: true}
	}
	return violation{Error: e, rule: err.Error()}
}
