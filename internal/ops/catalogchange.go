package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CatalogChange is what is to be different about a catalog. Nil fields stay as they are.
type CatalogChange struct {
	Image    *string
	Priority *int
	// Poll is how often a new image is looked for; zero is never.
	Poll *time.Duration
	// Secrets are pull secrets in the namespace of a CatalogSource.
	Secrets *[]string
	// Availability is whether a ClusterCatalog is to be served: Available or Unavailable.
	Availability *string
	// DryRun lets the API server check the change, and writes nothing.
	DryRun bool
}

// ChangeCatalog changes a CatalogSource, or a ClusterCatalog where the namespace is empty, and returns what has changed, a line each. It begins again when
// another client, as its controller does, writes the object in between.
func ChangeCatalog(ctx context.Context, c client.Client, key client.ObjectKey, change CatalogChange) (is InstalledCatalog, said []string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live := emptyCatalog(key.Namespace)
		if err := c.Get(ctx, key, live); err != nil {
			return fmt.Errorf("read catalog %s: %w", strings.TrimPrefix(key.String(), "/"), err)
		}
		wanted := live.DeepCopyObject().(client.Object)
		if said, err = change.make(wanted); err != nil {
			return fmt.Errorf("change %s: %w", viewCatalog(live).Describe(), err)
		}
		if is = viewCatalog(live); len(said) == 0 {
			return nil
		}
		options := []client.PatchOption{fieldOwner}
		if change.DryRun {
			options = append(options, client.DryRunAll)
		}
		err := c.Patch(ctx, wanted, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}), options...)
		if err != nil && !apierrors.IsConflict(err) {
			return fmt.Errorf("change %s: %w", is.Describe(), err)
		}
		is = viewCatalog(wanted)
		return err
	})
	if apierrors.IsConflict(err) {
		err = fmt.Errorf("change %s: others write it all the time: try again: %w", is.Describe(), err)
	}
	return is, said, err
}

// make changes a catalog, and says what changes.
func (change CatalogChange) make(o client.Object) ([]string, error) {
	is := viewCatalog(o)
	now, err := time.ParseDuration(cmp.Or(is.Poll, "0"))
	if err != nil {
		return nil, err // which it has written itself
	}
	wanted := CatalogOptions{Name: is.Name, Namespace: is.Namespace, Image: imageOf(o), Priority: is.Priority, Poll: now, Secrets: is.Secrets}
	var said []string
	say := func(field, before, after string) {
		said = append(said, fmt.Sprintf("%s: %s -> %s", field, cmp.Or(before, nothing), cmp.Or(after, nothing)))
	}
	if change.Image != nil && *change.Image != wanted.Image {
		if *change.Image == "" || wanted.Image == "" {
			return nil, fmt.Errorf("it is read from %s, and can be given another image only where it has one", cmp.Or(is.Source, "nowhere"))
		}
		say("image", wanted.Image, *change.Image)
		wanted.Image = *change.Image
	}
	if change.Priority != nil && *change.Priority != wanted.Priority {
		say("priority", fmt.Sprint(wanted.Priority), fmt.Sprint(*change.Priority))
		wanted.Priority = *change.Priority
	}
	if change.Poll != nil && *change.Poll != wanted.Poll {
		say("poll", wanted.Poll.String(), change.Poll.String())
		wanted.Poll = *change.Poll
	}
	if change.Secrets != nil && !slices.Equal(*change.Secrets, wanted.Secrets) {
		say("pull secrets", strings.Join(wanted.Secrets, ", "), strings.Join(*change.Secrets, ", "))
		wanted.Secrets = *change.Secrets
	}
	if change.Availability != nil && *change.Availability != is.Availability {
		catalog, clustered := o.(*olmv1.ClusterCatalog)
		known := []olmv1.AvailabilityMode{olmv1.AvailabilityModeAvailable, olmv1.AvailabilityModeUnavailable}
		if mode := olmv1.AvailabilityMode(*change.Availability); !clustered {
			return nil, errors.New("only a ClusterCatalog can be made unavailable: remove the CatalogSource, or give it a lower priority")
		} else if !slices.Contains(known, mode) {
			return nil, fmt.Errorf("availability %q: it is %s or %s", *change.Availability, known[0], known[1])
		} else {
			say("availability", is.Availability, *change.Availability)
			catalog.Spec.AvailabilityMode = mode
		}
	}
	if len(said) == 0 {
		return nil, nil
	}
	if err := wanted.Check(); err != nil {
		return nil, err
	}
	wanted.applyTo(o)
	return said, nil
}

// imageOf is the image of a catalog; empty where it is read from something else.
func imageOf(o client.Object) string {
	switch c := o.(type) {
	case *v1alpha1.CatalogSource:
		return c.Spec.Image
	case *olmv1.ClusterCatalog:
		if c.Spec.Source.Image != nil {
			return c.Spec.Source.Image.Ref
		}
	}
	return ""
}

// applyTo writes what can be changed into a catalog, and nothing else.
func (o CatalogOptions) applyTo(object client.Object) {
	switch c := object.(type) {
	case *v1alpha1.CatalogSource:
		c.Spec.Image, c.Spec.Priority, c.Spec.Secrets = o.Image, o.Priority, o.Secrets
		if now, err := time.ParseDuration(cmp.Or(viewSource(c).Poll, "0")); err == nil && now == o.Poll {
			return // as it is written
		}
		c.Spec.UpdateStrategy = nil
		if o.Poll > 0 {
			c.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: o.Poll}, RawInterval: o.Poll.String()}}
		}
	case *olmv1.ClusterCatalog:
		c.Spec.Priority = int32(o.Priority)
		if c.Spec.Source.Image == nil {
			return
		}
		c.Spec.Source.Image.Ref, c.Spec.Source.Image.PollIntervalMinutes = o.Image, nil
		if minutes := int(o.Poll / time.Minute); minutes > 0 {
			c.Spec.Source.Image.PollIntervalMinutes = &minutes
		}
	}
}
