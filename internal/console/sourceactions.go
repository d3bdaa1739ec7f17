package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refused is the answer to a form with a value that cannot be meant.
func refused(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Sprintf(format, args...), "go back, correct the form, and send it once more"}
}

// number is a whole number of a form; what is not given is what is said instead.
func (q *query) number(name string, otherwise int) (int, error) {
	text := q.get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, refused("The %s cannot be %q: it is a whole number", name, text[:min(len(text), maxAsked)])
	}
	return n, nil
}

// minutes is an interval of a form. An image by its digest has none, and a tag that of the command line where none is given.
func (q *query) minutes(image string) (time.Duration, error) {
	standard := int(ops.DefaultPoll / time.Minute)
	if strings.Contains(image, "@") {
		standard = 0
	}
	n, err := q.number("poll", standard)
	if err == nil && n > int(maxPoll/time.Minute) {
		err = refused("The poll interval cannot be %d minutes: it has %d at most", n, int(maxPoll/time.Minute))
	}
	return time.Duration(n) * time.Minute, err
}

// maxPoll is a year: a longer interval is a mistake.
const maxPoll = 365 * 24 * time.Hour

// image is an image of a form.
func (q *query) image() (string, error) {
	image := q.get("image")
	if image == "" || len(image) > maxAsked || strings.ContainsAny(image, " \t\n") || !preview.IsReference(image) {
		return "", refused("The image cannot be %q: write its reference with the host of its registry, as in quay.io/example/catalog:v1", image[:min(len(image), maxAsked)])
	}
	return image, nil
}

func (c sources) addSource(ctx context.Context, q *query) (done, error) {
	o := ops.CatalogOptions{Name: q.get("name"), Secrets: lists(q.values["secrets"])}
	if q.get("api") != "v1" {
		o.Namespace = q.get(namespaceKey)
		if err := preview.Check("namespace", o.Namespace); err != nil {
			return done{}, refused("The namespace of the CatalogSource is not one: %v", err)
		}
	}
	err := preview.Check("catalog", o.Name)
	if err != nil {
		return done{}, refused("The catalog cannot be called so: %v", err)
	}
	if o.Image, err = q.image(); err != nil {
		return done{}, err
	}
	if o.Priority, err = q.number("priority", 0); err != nil {
		return done{}, err
	}
	if o.Poll, err = q.minutes(o.Image); err != nil {
		return done{}, err
	}
	if o.Namespace == "" && len(o.Secrets) > 0 {
		return done{}, refused("Pull secrets are for a CatalogSource: a ClusterCatalog is pulled with the pull secrets of the manager")
	}
	if err := o.Check(); err != nil {
		return done{}, refused("The catalog cannot be added: %s", withoutCommands(err))
	}
	is, created, err := ops.AddCatalog(ctx, q.user.client, o)
	if asked := messages.Asked(err); asked != nil && asked.Lack == messages.NoNamespace {
		return done{}, &statusError{http.StatusNotFound, asked.Text, "create the namespace, or go back and write another one into the form"}
	}
	if err != nil {
		return done{}, err
	}
	notice := is.Describe() + " has that image already: nothing was changed."
	if created {
		notice = "Created " + is.Describe() + ". The manager reads its image now; this page shows how it is."
	}
	return done{Notice: notice, To: sourceAddress(is)}, nil
}

func (c sources) changeSource(ctx context.Context, q *query) (done, error) {
	is, object, err := found(ctx, q)
	if err != nil {
		return done{}, err
	}
	if q.get("mark") != is.Mark() {
		return done{}, changed(&ops.MeantError{Object: is.Catalog.Describe()})
	}
	var change ops.CatalogChange
	if imageOf(object) != "" {
		image, err := q.image()
		if err != nil {
			return done{}, err
		}
		poll, err := q.minutes(image)
		if err != nil {
			return done{}, err
		}
		change.Image = &image
		if now, _ := time.ParseDuration(is.Catalog.Poll); q.get("poll") != "" && int(poll/time.Minute) != int(now/time.Minute) { // the form has whole minutes
			change.Poll = &poll
		}
	}
	priority, err := q.number("priority", is.Catalog.Priority)
	if err != nil {
		return done{}, err
	}
	change.Priority = &priority
	if is.Catalog.API == "v1" {
		availability := q.get("availability")
		change.Availability = &availability
	} else if secrets := lists(q.values["secrets"]); q.values.Has("secrets") {
		change.Secrets = &secrets
	}
	_, said, err := ops.ChangeCatalog(ctx, q.user.client, client.ObjectKeyFromObject(object), change)
	if err != nil {
		return done{}, err
	}
	if len(said) == 0 {
		return done{Notice: is.Catalog.Describe() + " is so already: nothing was changed.", To: sourceAddress(is.Catalog)}, nil
	}
	return done{Notice: "Changed " + is.Catalog.Describe() + ":\n" + strings.Join(said, "\n"), To: sourceAddress(is.Catalog)}, nil
}

func (c sources) removeSource(ctx context.Context, q *query) (done, error) {
	is, _, err := found(ctx, q)
	if err != nil {
		return done{}, err
	}
	if q.get("mark") != is.Mark() {
		return done{}, changed(&ops.MeantError{Object: is.Catalog.Describe()})
	}
	if err := is.Remove(ctx, q.user.client, false); err != nil {
		return done{}, err
	}
	return done{Notice: "Removed " + is.Catalog.Describe() + ". What was installed from it stays.", To: "/sources"}, nil
}
