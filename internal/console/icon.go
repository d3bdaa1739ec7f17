package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"fairlead.dev/fairlead/internal/ops/preview"

	"k8s.io/utils/clock"
)

// iconPolicy is what a picture may do that is opened by itself: nothing but have its own style.
const iconPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// Bounds of pictures.
const (
	maxPicture  = 512 << 10 // bytes of one
	maxPictures = 16 << 20  // bytes of all that are kept
	maxNamed    = 4096      // packages of which it is kept which picture they have
	iconFresh   = 10 * time.Minute
	iconReaders = 4 // at once
	iconTime    = 20 * time.Second
)

const svgType = "image/svg+xml"

// picture is what is served: checked, or made here.
type picture struct {
	mediaType, digest string
	data              []byte
}

func newPicture(mediaType string, data []byte) *picture {
	sum := sha256.Sum256(data)
	return &picture{mediaType: mediaType, digest: hex.EncodeToString(sum[:16]), data: data}
}

// iconKey is a package as a user sees it: what another one may not see is not shown because one who may has seen it.
type iconKey struct {
	user                    *User
	namespace, catalog, pkg string
}

// icons keeps pictures, each once, however many packages have it.
type icons struct {
	clock clock.PassiveClock
	turns chan struct{}

	mu       sync.Mutex
	named    map[iconKey]namedIcon
	pictures map[string]*picture // by digest
	order    []string            // digests, the one that was used last at the end
	size     int
}

type namedIcon struct {
	digest string
	read   time.Time
}

func newIcons(c clock.PassiveClock) *icons {
	return &icons{clock: c, turns: make(chan struct{}, iconReaders), named: map[iconKey]namedIcon{}, pictures: map[string]*picture{}}
}

// get is the picture of a package, kept or read.
func (i *icons) get(ctx context.Context, key iconKey, read func(context.Context) (*preview.Icon, error)) (*picture, error) {
	if p := i.kept(key); p != nil {
		return p, nil
	}
	select {
	case i.turns <- struct{}{}:
		defer func() { <-i.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	icon, err := read(ctx)
	if err != nil {
		return nil, err
	}
	p := checked(icon)
	if p == nil {
		p = letterMark(key.pkg)
	}
	i.keep(key, p)
	return p, nil
}

func (i *icons) kept(key iconKey) *picture {
	i.mu.Lock()
	defer i.mu.Unlock()
	known, ok := i.named[key]
	if !ok || i.clock.Since(known.read) > iconFresh {
		return nil
	}
	p := i.pictures[known.digest]
	if p != nil {
		i.order = append(slices.DeleteFunc(i.order, func(d string) bool { return d == p.digest }), p.digest)
	}
	return p
}

func (i *icons) keep(key iconKey, p *picture) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.named) >= maxNamed {
		clear(i.named) // they are read again
	}
	i.named[key] = namedIcon{p.digest, i.clock.Now()}
	if i.pictures[p.digest] != nil {
		return
	}
	i.pictures[p.digest], i.order, i.size = p, append(i.order, p.digest), i.size+len(p.data)
	for i.size > maxPictures {
		oldest := i.order[0]
		i.size -= len(i.pictures[oldest].data)
		i.order = i.order[1:]
		delete(i.pictures, oldest)
	}
}

// forget drops what is known of the packages that a user saw; the pictures themselves are kept.
func (i *icons) forget(u *User) {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.DeleteFunc(i.named, func(key iconKey, _ namedIcon) bool { return key.user == u })
}

// checked is a picture that may be served; nil for what is none of a kind that browsers only show, or could do something.
func checked(icon *preview.Icon) *picture {
	if icon == nil || len(icon.Data) == 0 || len(icon.Data) > maxPicture {
		return nil
	}
	switch found := http.DetectContentType(icon.Data); found { // what it is counts, whatever it is called
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return newPicture(found, icon.Data)
	}
	if checkSVG(icon.Data) != nil {
		return nil
	}
	return newPicture(svgType, icon.Data)
}

// refusedElements are those of an SVG that run something, or show what is no drawing.
var refusedElements = []string{"script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler", "listener", "set", "animate", "animatemotion", "animatetransform", "discard"}

// checkSVG refuses what is no SVG, and one that has a script, an event handler, an entity, or that refers to anything outside of itself. As an <img> none
// of them does harm; by itself, the policy of its answer forbids it. It is refused all the same.
func checkSVG(data []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("it is written in %s", charset)
	}
	root := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if !root {
				return errors.New("it has no svg element")
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not XML: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			if bytes.ContainsAny(t, "[") || bytes.Contains(bytes.ToUpper(t), []byte("ENTITY")) {
				return errors.New("it declares entities")
			}
		case xml.ProcInst:
			if t.Target != "xml" {
				return errors.New("it has the instruction " + t.Target)
			}
		case xml.StartElement:
			if !root && t.Name.Local != "svg" {
				return errors.New("it begins with " + t.Name.Local)
			}
			root = true
			if err := checkElement(t); err != nil {
				return err
			}
		}
	}
}

func checkElement(e xml.StartElement) error {
	if slices.Contains(refusedElements, strings.ToLower(e.Name.Local)) {
		return errors.New("it has the element " + e.Name.Local)
	}
	for _, a := range e.Attr {
		name, value := strings.ToLower(a.Name.Local), strings.ToLower(strings.Join(strings.Fields(a.Value), ""))
		switch {
		case strings.HasPrefix(name, "on"):
			return errors.New("it has the event handler " + a.Name.Local)
		case name == "href" && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "data:image/png") && !strings.HasPrefix(value, "data:image/jpeg"):
			return errors.New("it refers to something else")
		case strings.Contains(value, "javascript:"):
			return errors.New("it has an address that is a script")
		}
	}
	return nil
}

// markColors are the grounds of marks: white letters can be read on each.
var markColors = []string{"#0b5d73", "#7a4b00", "#1d6b3a", "#5b3f8c", "#8c2f39", "#35566b", "#4d5b12", "#6b2f6b"}

// letterMark is the picture of a package that has none: its first letter.
func letterMark(name string) *picture {
	letter := "?"
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letter = string(unicode.ToUpper(r))
			break
		}
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // it never fails
	ground := markColors[sum.Sum32()%uint32(len(markColors))]
	return newPicture(svgType, []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="9" fill="`+ground+
		`"/><text x="20" y="27.5" font-family="system-ui, sans-serif" font-size="21" font-weight="600" text-anchor="middle" fill="#fff">`+html.EscapeString(letter)+`</text></svg>`))
}

// icon answers with the picture of a package.
func (c *storefront) icon(w http.ResponseWriter, r *http.Request) {
	user := r.Context().Value(sessionKey{}).(*session).user
	values := r.URL.Query()
	key := iconKey{user, values.Get(namespaceKey), values.Get("catalog"), values.Get("package")}
	if key.namespace == "" {
		key.namespace = user.Namespace
	}
	if len(key.namespace)+len(key.catalog)+len(key.pkg) > 4*maxName { // which nothing is called, and which would be kept
		http.Error(w, "no package is called so", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), iconTime)
	defer cancel()
	p, err := c.icons.get(ctx, key, func(ctx context.Context) (*preview.Icon, error) {
		return c.shelf.catalogs(user, key.namespace).Icon(ctx, key.catalog, key.pkg)
	})
	if err != nil {
		c.Log.Debug("read an icon", "catalog", key.catalog, "package", key.pkg, "err", err)
		p = letterMark(key.pkg) // it is a picture: what cannot be read is said on the page
	}
	h := w.Header()
	h.Set("Content-Security-Policy", iconPolicy)
	h.Set("Content-Type", p.mediaType)
	h.Set("ETag", `"`+p.digest+`"`)
	if err == nil {
		h.Set("Cache-Control", "private, max-age="+strconv.Itoa(int(iconFresh.Seconds())))
	}
	if strings.Contains(r.Header.Get("If-None-Match"), p.digest) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(p.data) // who is not there any more needs none
}

func (c *storefront) pictures() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"/icon": c.icon}
}
