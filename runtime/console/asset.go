package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// asset is an embedded file. Its name has a hash of its content, so a browser may keep it.
type asset struct {
	name    string
	content []byte
}

// assets are the files by their names in links, and assetNames those names by the files'.
var assets, assetNames = func() (map[string]*asset, map[string]string) {
	all, names := map[string]*asset{}, map[string]string{}
	files, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, f := range files {
		content, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(content)
		base, ext, _ := strings.Cut(f.Name(), ".")
		name := base + "-" + hex.EncodeToString(sum[:6]) + "." + ext
		all[name], names[f.Name()] = &asset{name, content}, name
	}
	return all, names
}()

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "assets are read-only", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Header().Set("ETag", `"`+path.Base(a.name)+`"`)
	http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(a.content))
}
