# Installed files, packages and the release.

# Where `make install` puts things. DESTDIR is a folder that stands for the root, for packages.
PREFIX = /usr/local
DESTDIR =
BINDIR = $(PREFIX)/bin
INCLUDEDIR = $(PREFIX)/include
LIBDIR = $(PREFIX)/lib
DATADIR = $(PREFIX)/share
PACKAGE = $(B)/package
VERSION := $(shell sh gen/version.sh)
INTERFACE := $(shell sh gen/version.sh interface)
LIBRARY = libipt.so.$(VERSION)

.PHONY: install uninstall deb dist
install: $(B)/ipt $(PACKAGE)/$(LIBRARY) $(PACKAGE)/libipt.a $(PACKAGE)/done ## install it: PREFIX=/usr/local DESTDIR=
	@for folder in "$(INCLUDEDIR)" "$(LIBDIR)/pkgconfig" "$(LIBDIR)/cmake/ipt" "$(BINDIR)" "$(DATADIR)/man/man1" \
	    "$(DATADIR)/bash-completion/completions" "$(DATADIR)/zsh/site-functions" \
	    "$(DATADIR)/fish/vendor_completions.d"; do mkdir -p "$(DESTDIR)$$folder" || exit 1; done
	install -m 644 $(HEADERS) "$(DESTDIR)$(INCLUDEDIR)"
	install -m 644 $(PACKAGE)/$(LIBRARY) $(PACKAGE)/libipt.a "$(DESTDIR)$(LIBDIR)"
	ln -sf $(LIBRARY) "$(DESTDIR)$(LIBDIR)/libipt.so.$(INTERFACE)"
	ln -sf libipt.so.$(INTERFACE) "$(DESTDIR)$(LIBDIR)/libipt.so"
	install -m 755 $(B)/ipt "$(DESTDIR)$(BINDIR)"
	install -m 644 $(PACKAGE)/ipt.pc "$(DESTDIR)$(LIBDIR)/pkgconfig"
	install -m 644 $(PACKAGE)/iptConfig.cmake $(PACKAGE)/iptConfigVersion.cmake "$(DESTDIR)$(LIBDIR)/cmake/ipt"
	install -m 644 $(PACKAGE)/ipt.bash "$(DESTDIR)$(DATADIR)/bash-completion/completions/ipt"
	install -m 644 $(PACKAGE)/ipt.zsh "$(DESTDIR)$(DATADIR)/zsh/site-functions/_ipt"
	install -m 644 $(PACKAGE)/ipt.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d"
	@if [ -s $(PACKAGE)/ipt.1 ]; then install -m 644 $(PACKAGE)/ipt.1 "$(DESTDIR)$(DATADIR)/man/man1"; \
	else echo "Not installed: the manual page, which needs help2man"; fi
	@[ -n "$(DESTDIR)" ] || PATH="$$PATH:/sbin:/usr/sbin" ldconfig -p 2> /dev/null | \
	    grep -q " $(LIBDIR)/libipt.so.$(INTERFACE)$$" || \
	    echo "The loader does not know $(LIBDIR)/libipt.so yet: run 'ldconfig' as root, or programs with" \
	        "LD_LIBRARY_PATH=$(LIBDIR)"

uninstall: ## remove what make install has put there, with the same PREFIX and DESTDIR
	rm -f "$(DESTDIR)$(INCLUDEDIR)/ipt.h" "$(DESTDIR)$(INCLUDEDIR)/ipt_kernels.h" "$(DESTDIR)$(LIBDIR)"/libipt.so* \
	    "$(DESTDIR)$(LIBDIR)/libipt.a" "$(DESTDIR)$(BINDIR)/ipt" "$(DESTDIR)$(LIBDIR)/pkgconfig/ipt.pc" \
	    "$(DESTDIR)$(DATADIR)/bash-completion/completions/ipt" "$(DESTDIR)$(DATADIR)/zsh/site-functions/_ipt" \
	    "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/ipt.fish" "$(DESTDIR)$(DATADIR)/man/man1/ipt.1"
	rm -rf "$(DESTDIR)$(LIBDIR)/cmake/ipt"

# Programs see the functions of the interface alone. -O2 stays where CFLAGS has no -O.
$(PACKAGE)/ipt.o: gen/package/ipt.c $(HEADERS) | $(PACKAGE)
	$(CC) -O2 $(CFLAGS) -fPIC -fvisibility=hidden -I. -c -o $@ $<

$(PACKAGE)/$(LIBRARY): $(PACKAGE)/ipt.o
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libipt.so.$(INTERFACE) -o $@ $< $(LDLIBS) -ldl

$(PACKAGE)/libipt.a: $(PACKAGE)/ipt.o
	rm -f $@
	$(AR) rc $@ $<

# Always anew: what they contain depends on PREFIX.
$(PACKAGE)/done: $(B)/ipt FORCE | $(PACKAGE)
	@for template in gen/package/ipt.pc gen/cmake/iptConfig.cmake gen/cmake/iptConfigVersion.cmake; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	        -e 's|@VERSION@|$(VERSION)|' -e 's|@INTERFACE@|$(INTERFACE)|' $$template.in \
	        > $(PACKAGE)/$${template##*/} || exit 1; done
	@for shell in bash zsh fish; do \
	    sh gen/package/completions.sh $(B)/ipt $$shell > $(PACKAGE)/ipt.$$shell || exit 1; done
	@: > $(PACKAGE)/ipt.1
	@sh gen/package/manual.sh $(B)/ipt > $(PACKAGE)/ipt.h2m
	@! command -v help2man > /dev/null || help2man -N -n "in-place transposition on OpenCL devices" \
	    --include=$(PACKAGE)/ipt.h2m -o $(PACKAGE)/ipt.1 $(B)/ipt
	@touch $@

deb: ## build Debian packages into build/deb with debhelper
	@sh gen/deps.sh build-essential debhelper dpkg-dev $(DEMO_PACKAGES) pkg-config help2man --optional $(PICTURE_PACKAGES)
	@sh gen/package/deb.sh $(B)/deb

dist: single ## the release, build/dist/ipt-VERSION.tar.gz, with its sum: the committed tree and the single file
	@sh gen/package/dist.sh $(B)/single/ipt.h $(B)/dist

$(PACKAGE):
	mkdir -p $@
