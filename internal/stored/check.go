package stored

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/preflight/crdupgrade"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageCost is what the rules of a schema may cost for the objects of a page: some ten seconds. Those of one object may cost half of it.
const pageCost = 20_000_000

// sampled is how many objects that become invalid are named.
const sampled = 5

// Check finds the objects that an upgrade makes invalid.
type Check struct {
	// Objects is how many were looked at, and Invalid how many of them become invalid.
	Objects, Invalid int
	// Sample are the first of those.
	Sample []Failure
	// Unread says why objects could not be looked at; empty is for no reason.
	Unread string

	live      *definition
	validator *crdupgrade.Validator
	ways      []way
	pages     pages
	limit     int64
}

// way is one version to read all objects in.
type way struct {
	read string // the version that objects are read in
	as   string // the version that is looked at; empty is every one, because the objects are the same in all
}

// Failure is an object that becomes invalid.
type Failure struct {
	Namespace, Name string
	Problem         crdupgrade.Problem
	way             way
}

// String names the object, the field and what is wrong.
func (f Failure) String() string {
	if f.Namespace == "" {
		return f.Name + ": " + f.Problem.String()
	}
	return f.Namespace + "/" + f.Name + ": " + f.Problem.String()
}

// NewCheck prepares to look at all objects, in the versions whose schemas change.
func NewCheck(reader client.Reader, live, wanted *definition, changed []string) (*Check, error) {
	validator, err := crdupgrade.NewValidator(live, wanted, changed)
	if err != nil {
		return nil, err
	}
	c := &Check{live: live, validator: validator, pages: pages{reader: reader}, limit: firstPage}
	switch read := crdupgrade.ReadVersion(live); {
	case len(changed) == 0 || read == "":
	case live.Spec.Conversion != nil && live.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter:
		for _, version := range changed {
			c.ways = append(c.ways, way{read: version, as: version})
		}
	default:
		c.ways = []way{{read: read}}
	}
	return c, nil
}

// Done tells whether all objects have been looked at.
func (c *Check) Done() bool { return len(c.ways) == 0 }

// Advance looks at some pages of objects.
func (c *Check) Advance(ctx context.Context, count int) error {
	for range count {
		if c.Done() {
			return nil
		}
		if err := c.page(ctx); err != nil {
			return fmt.Errorf("look at the %s objects that are stored: %w", c.live.Name, err)
		}
	}
	return nil
}

func (c *Check) page(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(listIn(c.live, c.ways[0].read))
	err := c.pages.next(ctx, list, c.limit)
	switch {
	case conversionFails(err): // the upgrade may well be what mends it
		c.Unread = bounded(err.Error())
		c.turn()
		return nil
	case apierrors.IsResourceExpired(err):
		c.Objects, c.Invalid, c.Sample = 0, 0, nil
		return err
	case err != nil:
		return err
	}
	budget, size := int64(pageCost), 0
	for i := range list.Items {
		size += weight(list.Items[i].Object)
		if err := c.look(ctx, &list.Items[i], &budget); err != nil {
			return err
		}
	}
	c.limit = nextLimit(len(list.Items), size)
	if c.pages.ended {
		c.turn()
	}
	return nil
}

// turn goes on to the next version.
func (c *Check) turn() {
	c.ways = c.ways[1:]
	c.pages = pages{reader: c.pages.reader}
}

func (c *Check) look(ctx context.Context, object *unstructured.Unstructured, budget *int64) error {
	problems, err := c.validator.Check(ctx, object.Object, c.ways[0].as, budget)
	if err != nil {
		return fmt.Errorf("validate %s: %w", nameOf(object), err)
	}
	c.Objects++
	if len(problems) == 0 {
		return nil
	}
	c.Invalid++
	if len(c.Sample) < sampled {
		c.Sample = append(c.Sample, Failure{object.GetNamespace(), object.GetName(), problems[0], c.ways[0]})
	}
	return nil
}

// StillInvalid looks again at the objects that are named as invalid. As long as one of them is, there is no need to look at all.
func (c *Check) StillInvalid(ctx context.Context) (bool, error) {
	for _, f := range c.Sample {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kindIn(c.live, f.way.read))
		err := c.pages.reader.Get(ctx, client.ObjectKey{Namespace: f.Namespace, Name: f.Name}, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("look at %s %s again: %w", c.live.Spec.Names.Kind, nameOf(object), err)
		}
		budget := int64(pageCost)
		problems, err := c.validator.Check(ctx, object.Object, f.way.as, &budget)
		if err != nil || len(problems) > 0 {
			return true, err
		}
	}
	return false, nil
}
