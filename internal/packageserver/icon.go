package packageserver

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

const svgType = "image/svg+xml"

//go:embed icon.svg
var defaultIcon []byte

// iconStorage answers requests for the pictures of packages.
type iconStorage struct{ packages *storage }

var (
	_ rest.Connecter       = &iconStorage{}
	_ rest.StorageMetadata = &iconStorage{}
	_ rest.Storage         = &iconStorage{}
)

// New returns an empty object of the kind that the picture belongs to.
func (s *iconStorage) New() runtime.Object { return &packagesv1.PackageManifest{} }

// Destroy gives nothing back: nothing is held.
func (s *iconStorage) Destroy() {}

// ConnectMethods are those of the subresource.
func (s *iconStorage) ConnectMethods() []string { return []string{http.MethodGet} }

// NewConnectOptions says that there are none.
func (s *iconStorage) NewConnectOptions() (options runtime.Object, hasSubpath bool, subpath string) {
	return nil, false, ""
}

// ProducesMIMETypes are the types that OpenAPI tells.
func (s *iconStorage) ProducesMIMETypes(string) []string {
	return []string{"image/png", "image/jpeg", svgType}
}

// ProducesObject says that pictures are no API objects.
func (s *iconStorage) ProducesObject(string) any { return "" }

// Connect returns the handler that answers with the picture.
func (s *iconStorage) Connect(ctx context.Context, name string, _ runtime.Object, _ rest.Responder) (http.Handler, error) {
	o, _, err := s.packages.find(request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, err
	}
	icon, _, err := FindIcon(o.source.index, name)
	if err != nil {
		return nil, fmt.Errorf("find the icon of package %s: %w", name, err) // which is told as an internal error
	}
	return iconHandler(icon), nil
}

// iconHandler serves one picture; the default one in the place of none. Its content comes from a catalog: a browser that is led here is told
// to take it for a picture and nothing else, and to run nothing in it.
func iconHandler(icon *Icon) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
		data, mediaType := defaultIcon, svgType
		if icon != nil {
			data, mediaType = icon.Data, icon.MediaType
			if given, _, err := mime.ParseMediaType(mediaType); err != nil || !strings.HasPrefix(given, "image/") {
				mediaType = "application/octet-stream" // no catalog serves anything but pictures
			}
			tag := strconv.Quote(icon.Tag)
			h.Set("Etag", tag)
			if slices.ContainsFunc(strings.Split(r.Header.Get("If-None-Match"), ","), func(known string) bool {
				known = strings.TrimPrefix(strings.TrimSpace(known), "W/")
				return known == "*" || known == tag
			}) {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		h.Set("Content-Type", mediaType)
		h.Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(data) // a client that has gone needs no answer
	})
}

// maxIcon bounds a decoded icon: API servers hand it through, and browsers show it.
const maxIcon = 4 << 20

// Icon is the picture of a package.
type Icon struct {
	Data      []byte
	MediaType string
	// Tag names the picture: it changes when another operator becomes the head of the default channel.
	Tag string
}

// FindIcon returns the picture of a package: that of the operator in its default channel, or else in the first channel that can be
// described, or of the package. It is nil when there is none that can be shown; found is false when there is no such package, or no such
// channel. The error is that of an index which cannot be read.
func FindIcon(x *catalog.Index, name string) (icon *Icon, found bool, err error) {
	info, ok := x.Package(name)
	if !ok {
		return nil, false, nil
	}
	channels := byName(info)
	if c, ok := info.Channel(info.DefaultChannel); ok {
		channels = append([]*catalog.ChannelInfo{c}, channels...)
	}
	for _, c := range channels {
		o, err := describeVersion(x, info, c)
		if errors.As(err, &unreadVersion{}) {
			return nil, false, err
		}
		if err != nil {
			continue
		}
		if len(o.icons) == 0 || base64.StdEncoding.DecodedLen(len(o.icons[0].Data)) > maxIcon {
			return nil, true, nil
		}
		data, err := base64.StdEncoding.DecodeString(o.icons[0].Data)
		if err != nil || len(data) == 0 {
			return nil, true, nil
		}
		return &Icon{Data: data, MediaType: o.icons[0].MediaType, Tag: info.Name + "." + c.Name + "." + c.Head}, true, nil
	}
	return nil, false, nil
}
