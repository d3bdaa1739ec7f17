package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultPoll is how often a new image is looked for, where a tag is named and nothing else is said.
const DefaultPoll = 15 * time.Minute

// CatalogOptions say which catalog to add.
type CatalogOptions struct {
	Name, Image string
	// Namespace is that of a CatalogSource; empty for a ClusterCatalog.
	Namespace string
	Priority  int
	// Poll is how often a new image is looked for; zero is never.
	Poll time.Duration
	// Secrets are pull secrets in the namespace of a CatalogSource.
	Secrets []string
	DryRun  bool
}

// Check refuses options that contradict each other.
func (o CatalogOptions) Check() error {
	switch {
	case o.Poll < 0:
		return fmt.Errorf("look for a new image every %s: the interval cannot be negative; 0 is never", o.Poll)
	case o.Poll > 0 && strings.Contains(o.Image, "@"):
		return &messages.AskedError{Lack: messages.NotFit, Text: fmt.Sprintf("look for a new image of %s: it is named by its digest, behind which there is always the same", o.Image), Command: "leave out --poll, or name a tag"}
	case o.Poll > 0 && o.Poll < time.Minute:
		return fmt.Errorf("look for a new image every %s: an interval of a minute or more is needed", o.Poll)
	case o.Priority != int(int32(o.Priority)):
		return fmt.Errorf("priority %d: it has to be between %d and %d", o.Priority, math.MinInt32, math.MaxInt32)
	case o.Namespace == "" && len(o.Secrets) > 0:
		return errors.New("--pull-secret is for a CatalogSource: a ClusterCatalog is pulled with the pull secrets of the manager")
	}
	return nil
}

// object is the catalog as it is created.
func (o CatalogOptions) object() client.Object {
	if o.Namespace == "" {
		c := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: o.Name}}
		c.Spec = olmv1.ClusterCatalogSpec{Priority: int32(o.Priority), Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: o.Image}}}
		if o.Poll > 0 {
			minutes := int(o.Poll / time.Minute)
			c.Spec.Source.Image.PollIntervalMinutes = &minutes
		}
		return c
	}
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}}
	s.Spec = v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: o.Image, Priority: o.Priority, Secrets: o.Secrets}
	if o.Poll > 0 {
		s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: o.Poll}, RawInterval: o.Poll.String()}}
	}
	return s
}

// AddCatalog creates a catalog. One of that name that has the image already stays as it is: created is false. Another one is an error.
func AddCatalog(ctx context.Context, c client.Client, o CatalogOptions) (catalog InstalledCatalog, created bool, err error) {
	if err := o.Check(); err != nil {
		return catalog, false, err
	}
	object := o.object()
	catalog = viewCatalog(object)
	live := emptyCatalog(o.Namespace)
	err = c.Get(ctx, client.ObjectKeyFromObject(object), live)
	switch {
	case err == nil:
		is := viewCatalog(live)
		if is.Source != o.Image {
			return is, false, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("create %s with image %s: there is one of that name, with %s", catalog.Describe(), o.Image, is.Source),
				Command: "choose another name, or remove it first: fairlead catalog remove " + is.Arguments()}
		}
		return is, false, nil
	case !apierrors.IsNotFound(err):
		return catalog, false, fmt.Errorf("read %s: %w", catalog.Describe(), err)
	}
	options := []client.CreateOption{fieldOwner}
	if o.DryRun {
		options = append(options, client.DryRunAll)
	}
	err = c.Create(ctx, object, options...)
	if apierrors.IsNotFound(err) && o.Namespace != "" {
		return catalog, false, &messages.AskedError{Lack: messages.NoNamespace, Text: fmt.Sprintf("create %s: %v", catalog.Describe(), err), Command: "create the namespace, or name another one with -n"}
	}
	if err != nil {
		return catalog, false, fmt.Errorf("create %s: %w", catalog.Describe(), err)
	}
	return catalog, true, nil
}

// Arguments are those of a command that name the catalog.
func (c InstalledCatalog) Arguments() string {
	if c.Namespace == "" {
		return c.Name + " --api v1"
	}
	return c.Name + " -n " + c.Namespace + " --api v0"
}

// emptyCatalog is an object of the kind that has catalogs of a namespace, or of the cluster.
func emptyCatalog(namespace string) client.Object {
	if namespace == "" {
		return &olmv1.ClusterCatalog{}
	}
	return &v1alpha1.CatalogSource{}
}

func viewCatalog(o client.Object) InstalledCatalog {
	if s, is := o.(*v1alpha1.CatalogSource); is {
		return viewSource(s)
	}
	return viewClusterCatalog(o.(*olmv1.ClusterCatalog))
}

// problemLasts is how long a problem lasts that the manager retries before a command ends.
const problemLasts = 10 * time.Second

// WaitCatalog returns when a catalog serves its content. Where nothing more happens by itself, it ends at once with a *StoppedError, and so it does
// where the manager tries again and the problem lasts for a while. Whenever the reason changes, tell is called with it.
func WaitCatalog(ctx context.Context, reader client.Reader, key client.ObjectKey, tell func(message string)) (InstalledCatalog, error) {
	return waitCatalog(ctx, reader, key, problemLasts, tell)
}

// reconciledWithin is how soon a manager that runs sets the first status.
const reconciledWithin = 3 * time.Second

func waitCatalog(ctx context.Context, reader client.Reader, key client.ObjectKey, lasts time.Duration, tell func(message string)) (is InstalledCatalog, err error) {
	var since time.Time
	last, begun := "", time.Now()
	for {
		live := emptyCatalog(key.Namespace)
		if err := reader.Get(ctx, key, live); err != nil && !over(ctx) {
			return is, fmt.Errorf("read catalog %s: %w", strings.TrimPrefix(key.String(), "/"), err)
		} else if err == nil {
			is = viewCatalog(live)
		}
		switch {
		case is.Serving:
			return is, nil
		case !is.problem && !is.stopped:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		if is.stopped || !since.IsZero() && time.Since(since) >= lasts {
			return is, &StoppedError{is.Describe(), is.State, is.Message}
		}
		if is.Message != last && (is.Message != unreconciled || time.Since(begun) > reconciledWithin) {
			last = is.Message
			tell(last)
		}
		select {
		case <-ctx.Done():
			return is, fmt.Errorf("wait for %s: it does not serve its content: %s", is.Describe(), is.Message)
		case <-time.After(pollInterval):
		}
	}
}
