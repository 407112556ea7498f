//go:build unix

package postgres

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the uid that servers run under: PostgreSQL refuses root, so root takes the
// user postgres or nobody; anybody else stays who they are, which is nil.
func account() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return &syscall.Credential{Uid: 65534, Gid: 65534}
}

// give makes the account the owner of path.
func give(path string, a *syscall.Credential) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.Uid), int(a.Gid))
}
