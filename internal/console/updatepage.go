package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// updatePage is what another image of a catalog would change here.
type updatePage struct {
	Catalog ops.InstalledCatalog `json:"catalog"`
	// Named is the image that the catalog names, and Image the one to compare it with; where that is empty nothing was asked.
	Named string `json:"named,omitempty"`
	Image string `json:"image,omitempty"`
	// Update is the answer; nil while Reading is true, and where Problem is why there is none.
	Update  *preview.CatalogUpdate `json:"update,omitempty"`
	Reading bool                   `json:"reading,omitempty"`
	Problem string                 `json:"problem,omitempty"`
	Remedy  string                 `json:"remedy,omitempty"`
	// Unread is why no image is read here; empty where one is.
	Unread string `json:"unread,omitempty"`
	// Commands ask the same in a terminal.
	Commands []string `json:"commands,omitempty"`
}

// update tells what another image would change. Images are read on the user's own machine alone: a console in the cluster says which command does it.
func (c sources) update(ctx context.Context, q *query) (any, error) {
	is, object, err := found(ctx, q)
	if err != nil {
		return nil, err
	}
	p := &updatePage{Catalog: is.Catalog, Named: imageOf(object), Image: q.get("image")}
	image := p.Image
	if image == "" {
		image = p.Named
	}
	name := is.Catalog.Name
	if is.Catalog.Namespace != "" {
		name = is.Catalog.Namespace + "/" + name
	}
	if p.Named != "" {
		p.Commands = []string{"fairlead catalog diff " + preview.Quoted(pinned(p.Named, is.Catalog.Digest)) + " " + preview.Quoted(image)}
	}
	p.Commands = append(p.Commands, "fairlead plan NAME --catalog "+preview.Quoted(name+"="+image))
	if err := c.reads(""); err != nil {
		p.Unread = explain(err).text
		if q.values.Has("image") && q.whole {
			return nil, c.reads(image)
		}
		return p, nil
	}
	if !q.values.Has("image") { // the form, before anything is asked
		return p, nil
	}
	if _, err := preview.ParseCatalogImage(image); err != nil {
		return nil, &statusError{http.StatusBadRequest, fmt.Sprintf("The image cannot be %q", messages.Line(image, maxAsked)), "write its reference with the host of its registry, as in quay.io/example/catalog:v1"}
	}
	updater := preview.CatalogUpdater{Cluster: q.user.cluster, Library: c.Library, GlobalNamespace: c.GlobalNamespace, Dial: q.user.dial()}
	key := strings.Join([]string{is.Catalog.Describe(), is.Mark(), is.Catalog.Digest, image}, " ")
	p.Update, p.Reading, err = c.updates.get(ctx, asked{q.user, key}, q.whole, q.user, func(ctx context.Context) (*preview.CatalogUpdate, error) {
		return updater.Update(ctx, object, is.Catalog.Digest, image)
	})
	if err != nil {
		known := explain(err)
		p.Problem, p.Remedy = known.text, known.whatToDo
	}
	return p, nil
}

// pinned is a reference by the digest that is served, where that is known.
func pinned(ref, digest string) string {
	if digest == "" || strings.Contains(ref, "@") {
		return ref
	}
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		ref = ref[:colon]
	}
	return ref + "@" + digest
}
