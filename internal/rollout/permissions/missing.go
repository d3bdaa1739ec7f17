package permissions

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Missing is what a subject lacks to create, read, change and delete the objects, and to make the further requests. The rules are few, each
// right is in one of them, and their order depends on nothing but their content. An *IncompleteError comes with the rules that were found
// nevertheless; with any other error there are none.
func Missing(subject Subject, source RuleSource, objects []*unstructured.Unstructured, extra ...Need) ([]MissingRule, error) {
	s := &search{source: source, work: &budget{rights: maxRights, steps: maxSteps}, missing: map[right]bool{}, reasons: map[string]bool{}}
	err := s.run(subject, objects, extra)
	if limit := (limitError{}); errors.As(err, &limit) {
		return nil, fmt.Errorf("judge what %s may do: %w", subject.User, err)
	}
	if err != nil {
		return nil, fmt.Errorf("look up what %s may do: %w", subject.User, err)
	}
	missing := compact(s.missing)
	if len(s.reasons) > 0 {
		return missing, &IncompleteError{Reasons: slices.Sorted(maps.Keys(s.reasons))}
	}
	return missing, nil
}

func (s *search) run(subject Subject, objects []*unstructured.Unstructured, extra []Need) error {
	s.held = &held{subject: subject, source: s.source, work: s.work, namespaces: map[string]heldRules{}, all: slices.Contains(subject.Groups, superusers)}
	if !s.held.all {
		rules, err := s.source.Rules(subject, "")
		if err != nil {
			return err
		}
		s.held.everywhere = s.held.everywhere.with(rules)
	}
	s.own = s.lookThrough(objects)
	for _, object := range objects {
		if err := s.object(object); err != nil {
			return err
		}
	}
	if err := s.handedOn(); err != nil {
		return err
	}
	for _, need := range extra {
		for _, verb := range need.Verbs {
			r := right{namespace: need.Namespace, group: need.Group, resource: need.Resource, verb: verb, named: need.Name != "", name: need.Name}
			if err := s.request(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// search is one run of Missing.
type search struct {
	source RuleSource
	held   *held
	work   *budget
	own    *ownObjects
	// missing is what was found; reasons say why there may be more.
	missing map[right]bool
	reasons map[string]bool
}

// request needs a request to be authorised.
func (s *search) request(r right) error {
	if s.work.rights--; s.work.rights < 0 {
		return errTooManyRights
	}
	allowed, err := s.held.allows(r)
	if err == nil && !allowed {
		s.missing[r] = true
	}
	return err
}

func (s *search) incomplete(format string, args ...any) {
	s.reasons[fmt.Sprintf(format, args...)] = true
}
