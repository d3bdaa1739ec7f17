package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// assets are the style sheet, the script and the pictures. Their addresses have the digest of their content, so that browsers keep them for good.
type assets struct {
	content map[string][]byte // by address
	address func(name string) (string, error)
}

func newAssets() (*assets, error) {
	a := &assets{content: map[string][]byte{}}
	addresses := map[string]string{}
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		return nil, fmt.Errorf("list the assets: %w", err)
	}
	for _, e := range entries {
		content, err := fs.ReadFile(files, path.Join("static", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read asset %s: %w", e.Name(), err)
		}
		sum := sha256.Sum256(content)
		base, extension, _ := strings.Cut(e.Name(), ".")
		address := "/static/" + base + "-" + hex.EncodeToString(sum[:6]) + "." + extension
		a.content[address], addresses[e.Name()] = content, address
	}
	a.address = func(name string) (string, error) {
		if addresses[name] == "" {
			return "", fmt.Errorf("there is no asset %s", name)
		}
		return addresses[name], nil
	}
	return a, nil
}

// ServeHTTP answers with an asset.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, ok := a.content[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(r.URL.Path)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // who is not there any more needs none
}
