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

// assets are the style sheet, the script and the mark. Their addresses have the digest of their content, so that browsers keep them for good.
type assets struct {
	content map[string][]byte // by address
	address func(name string) (string, error)
}

func newAssets() (*assets, error) {
	a := &assets{content: map[string][]byte{}}
	addresses := map[string]string{}
	for name, pattern := range map[string]string{"style.css": "static/style/*.css", "script.js": "static/script/*.js", "mark.svg": "static/mark.svg"} {
		content, err := joined(pattern)
		if err != nil {
			return nil, fmt.Errorf("read asset %s: %w", name, err)
		}
		sum := sha256.Sum256(content)
		base, extension, _ := strings.Cut(name, ".")
		address := "/static/" + base + "-" + hex.EncodeToString(sum[:6]) + "." + extension
		a.content[address], addresses[name] = content, address
	}
	a.address = func(name string) (string, error) {
		if addresses[name] == "" {
			return "", fmt.Errorf("there is no asset %s", name)
		}
		return addresses[name], nil
	}
	return a, nil
}

// joined are the files of a pattern, one after the other by their names: each page has its own, and a browser asks for one.
func joined(pattern string) ([]byte, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, content...)
	}
	return all, nil
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
