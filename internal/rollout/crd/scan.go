package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageCost is what the rules of a schema may cost in one call, for all objects of a page: some ten seconds. An object whose rules cost more
// has a page, and a call, for itself.
const pageCost = 20_000_000

// sampled is how many objects that become invalid are named.
const sampled = 5

// Scan finds the objects that an upgrade makes invalid.
type Scan struct {
	// Tally is what has been found so far.
	Tally
	// Unread says why objects could not be checked; empty is for no reason.
	Unread string

	live      *definition
	dropped   []string // served versions that go
	validator *Validator
	pruning   *Pruning
	ways      []way
	pages     pages
	before    Tally // the way: all that comes to nothing when it begins again
	limit     int64
	cost      int64
}

// Tally is what a check of objects has come to.
type Tally struct {
	// Objects is how many were checked, and Invalid how many of them become invalid. An object that is read in several versions counts
	// in each.
	Objects, Invalid int
	// Sample are the first of those.
	Sample []Failure
	// Losing is how many have fields that the version which will be stored does not know, and Losses are the first of these.
	Losing int
	Losses []Loss
	// Written is how many were last written in a version that goes although it is served, and Writes are the first of these.
	Written int
	Writes  []Written
}

// Loss is an object that loses fields when it is written again.
type Loss struct {
	Namespace, Name string
	Fields          []string
}

// String names the object and its fields.
func (l Loss) String() string {
	return nameIn(l.Namespace, l.Name) + ": " + strings.Join(safetext.First(l.Fields, sampled, "and %d more"), ", ")
}

// way is one version to read all objects in.
type way struct {
	read string // the version that objects are read in
	as   string // the version that is checked; empty is every one, because the objects are the same in all
	// counts is set for the one way in which the last writers of objects are counted.
	counts bool
}

// Failure is an object that becomes invalid.
type Failure struct {
	Namespace, Name string
	Problem         Problem
	way             way
}

// String names the object, the field and what is wrong.
func (f Failure) String() string {
	return nameIn(f.Namespace, f.Name) + ": " + f.Problem.String()
}

// NewScan prepares to read all objects: in the versions whose schemas change, for what they lose in the one that is stored, and for those that were last
// written in one of the dropped versions.
func NewScan(reader client.Reader, live, wanted *definition, changed, dropped []string) (*Scan, error) {
	validator, err := NewValidator(live, wanted, changed)
	if err != nil {
		return nil, err
	}
	losses, err := NewPruning(live, StorageVersion(live), wanted, StorageVersion(wanted))
	if err != nil {
		return nil, err
	}
	if converts(wanted) {
		losses = nil
	}
	c := &Scan{live: live, dropped: dropped, validator: validator, pruning: losses, pages: pages{reader: reader}, limit: firstPage, cost: pageCost}
	switch read := ReadVersion(live); {
	case len(changed)+len(dropped) == 0 && c.pruning == nil && (converts(wanted) || !converts(live)) || read == "":
	case converts(live) && converts(wanted) && len(changed) > 0:
		for _, version := range changed {
			c.ways = append(c.ways, way{read: version, as: version})
		}
	default:
		c.ways = []way{{read: read}}
	}
	if len(c.ways) > 0 {
		c.ways[0].counts = true
	}
	return c, nil
}

// Done tells whether all objects have been checked.
func (c *Scan) Done() bool { return len(c.ways) == 0 }

// Advance checks some pages of objects, and fewer when the rules for them cost much.
func (c *Scan) Advance(ctx context.Context, count int) error {
	left := c.cost
	for range count {
		if c.Done() || left <= 0 {
			return nil
		}
		spent, err := c.page(ctx)
		if err != nil {
			return fmt.Errorf("check the %s objects that are stored: %w", c.live.Name, err)
		}
		left -= spent
	}
	return nil
}

// page reads a page and checks it. Only one that has been checked as a whole counts; any other is read again.
func (c *Scan) page(ctx context.Context) (spent int64, _ error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(listIn(c.live, c.ways[0].read))
	next := c.pages
	err := next.next(ctx, list, c.limit)
	switch {
	case conversionFails(err), isUnserved(err) && !apihelpers.IsCRDConditionTrue(c.live, apiextensionsv1.Established): // the upgrade may well be what repairs it
		c.Unread = messages.Line(err.Error(), maxText)
		c.turn()
		return 0, nil
	case apierrors.IsResourceExpired(err):
		c.pages, c.Tally = next, c.before
		return 0, err
	case err != nil:
		return 0, err
	}
	tally, spent, err := c.judge(ctx, list.Items)
	if errors.Is(err, ErrCost) {
		c.limit = max(1, int64(len(list.Items))/2)
		return spent, nil
	}
	if err != nil {
		return spent, err
	}
	c.pages, c.Tally = next, tally
	// How many objects the next page has, if they are as large as those of the last one and the rules for them cost as much.
	objects, size := int64(len(list.Items)), int64(0)
	for i := range list.Items {
		size += int64(weight(list.Items[i].Object))
	}
	limit := int64(largestPage)
	if size > 0 {
		limit = max(leastPage, min(limit, pageBytes*objects/size))
	}
	if spent > 0 {
		limit = max(1, min(limit, c.cost*objects/spent))
	}
	c.limit = limit
	if c.pages.ended {
		c.turn()
	}
	return spent, nil
}

// judge checks the objects of a page.
func (c *Scan) judge(ctx context.Context, objects []unstructured.Unstructured) (Tally, int64, error) {
	tally, allowed := c.Tally, c.cost
	if len(objects) == 1 {
		allowed = max(allowed, c.validator.Cost())
	}
	budget := allowed
	for i := range objects {
		namespace, name := objects[i].GetNamespace(), objects[i].GetName()
		problems, err := c.validator.Check(ctx, objects[i].Object, c.ways[0].as, &budget)
		if err != nil {
			return tally, allowed - budget, fmt.Errorf("validate %s: %w", nameIn(namespace, name), err)
		}
		if tally.Objects++; len(problems) > 0 {
			tally.Sample = tallied(&tally.Invalid, tally.Sample, Failure{namespace, name, problems[0], c.ways[0]})
		}
		if lost := c.pruning.Lost(objects[i].Object); len(lost) > 0 {
			tally.Losses = tallied(&tally.Losing, tally.Losses, Loss{namespace, name, lost})
		}
		if !c.ways[0].counts {
			continue
		}
		if version := lastWrittenIn(&objects[i], c.live.Spec.Group, c.dropped); version != "" {
			tally.Writes = tallied(&tally.Written, tally.Writes, Written{namespace, name, version})
		}
	}
	return tally, allowed - budget, nil
}

// tallied counts an object, and adds it to the first few as long as there is room. A tally of before may share them, and keeps its own.
func tallied[T any](number *int, few []T, object T) []T {
	if *number++; len(few) < sampled {
		return append(slices.Clip(few), object)
	}
	return few
}

// turn continues to the next version.
func (c *Scan) turn() {
	c.ways = c.ways[1:]
	c.pages, c.before = pages{reader: c.pages.reader}, c.Tally
}

// stillBlocks reads those objects again that are named as standing in the way, and reports whether one still does: then there is no need to read all.
// Objects that lose fields stand in the way where these are to be kept.
func (c *Scan) stillBlocks(ctx context.Context, keeps bool) (bool, error) {
	for _, f := range c.Sample {
		still, err := c.again(ctx, f.way.read, f.Namespace, f.Name, func(object map[string]any) (bool, error) {
			budget := c.validator.Cost()
			problems, err := c.validator.Check(ctx, object, f.way.as, &budget)
			return len(problems) > 0, err
		})
		if still || err != nil {
			return still, err
		}
	}
	for _, w := range c.Writes {
		still, err := c.again(ctx, ReadVersion(c.live), w.Namespace, w.Name, func(object map[string]any) (bool, error) {
			return lastWrittenIn(&unstructured.Unstructured{Object: object}, c.live.Spec.Group, c.dropped) != "", nil
		})
		if still || err != nil {
			return still, err
		}
	}
	if !keeps {
		return false, nil
	}
	for _, l := range c.Losses {
		still, err := c.again(ctx, ReadVersion(c.live), l.Namespace, l.Name, func(object map[string]any) (bool, error) {
			return len(c.pruning.Lost(object)) > 0, nil
		})
		if still || err != nil {
			return still, err
		}
	}
	return false, nil
}

// again asks something of an object that was checked before. One that cannot be converted now is taken to be as it was.
func (c *Scan) again(ctx context.Context, version, namespace, name string, is func(map[string]any) (bool, error)) (bool, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kindIn(c.live, version))
	err := c.pages.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case conversionFails(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("check %s %s again: %w", c.live.Spec.Names.Kind, nameIn(namespace, name), err)
	}
	return is(object.Object)
}
