/* SPDX-License-Identifier: MIT */
/*
 * The symbolizer (see symbolize.h), for build.c.
 *
 * Each module is opened alone, at the addresses in its file, so the load address in the traced process does not
 * matter. Names come from DWARF, or from the ELF symbol table if there is none; lines only from DWARF. The file's
 * build id must equal the log's, because a library updated since then would give wrong names.
 */
#include "dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

struct module {
    UT_hash_handle hh;
    enum vt_symbols_state state;
    Dwfl *dwfl;
    Dwfl_Module *dwfl_module;
    struct vt_elf_symbols elf_symbols;
    struct vt_scopes scopes;
    struct vt_variables variables;
    struct vt_map answer_of; /* address -> answer */
    uint64_t hash;           /* vt_recorded_module */
    bool bare;               /* only the names of its functions are read: see is_bare */
    char key[];              /* path, newline, build id */
};

/* The functions at one address of a module: rows of vt_symbols.rows. */
struct answer {
    uint32_t first, count;
};

struct string {
    UT_hash_handle hh;
    char text[];
};

struct vt_symbols {
    struct vt_answers *recorded; /* see vt_symbols_open */
    struct module *modules;
    struct answer *answers;
    uint32_t answer_count, answer_room;
    struct vt_symbol **rows; /* one memory block for each answer, so that rows never move */
    size_t row_count, row_room;
    struct string *strings;
};

struct vt_symbols *vt_symbols_open(struct vt_answers *answers) {
    struct vt_symbols *s = vt_alloc(1, sizeof *s);
    s->recorded = answers;
    return s;
}

void vt_symbols_close(struct vt_symbols *s) {
    struct module *m, *next;
    struct string *string, *after;
    if (!s)
        return;
    HASH_ITER(hh, s->modules, m, next) {
        HASH_DEL(s->modules, m);
        if (m->dwfl)
            dwfl_end(m->dwfl);
        vt_map_free(&m->answer_of);
        vt_elf_symbols_free(&m->elf_symbols);
        vt_scopes_free(&m->scopes);
        vt_variables_free(&m->variables);
        free(m);
    }
    HASH_ITER(hh, s->strings, string, after) {
        HASH_DEL(s->strings, string);
        free(string);
    }
    for (size_t i = 0; i < s->row_count; i++)
        free(s->rows[i]);
    free(s->rows);
    free(s->answers);
    free(s);
}

/* A copy that lives as long as the symbolizer; equal texts share one. */
static const char *keep_text(struct vt_symbols *s, const char *text) {
    struct string *string;
    if (!text)
        return NULL;
    size_t length = strlen(text);
    HASH_FIND(hh, s->strings, text, length, string);
    if (!string) {
        string = vt_alloc(1, sizeof *string + length + 1);
        memcpy(string->text, text, length);
        HASH_ADD_KEYPTR(hh, s->strings, string->text, length, string);
    }
    return string->text;
}

/* --- modules --- */

static bool same_build_id(Elf *elf, const char *expected) {
    const void *id;
    ssize_t length = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
    if (!expected[0])
        return true; /* not in the log, so the path must suffice */
    if (length <= 0 || (size_t)length * 2 != strlen(expected))
        return false;
    for (ssize_t i = 0; i < length; i++) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", ((const unsigned char *)id)[i]);
        if (memcmp(hex, expected + 2 * i, 2))
            return false;
    }
    return true;
}

/* elfutils looks for NAME beside the module, in .debug, and in the system's folder. It would wait
 * for a FIFO's writer there. */
static bool is_odd_file(const char *folder, const char *module, const char *name) {
    struct stat st;
    VT_SCOPED char *path =
        vt_formatted("%s%.*s/%s", folder, (int)(vt_basename(module) - module), module, name);
    bool odd = !stat(path, &st) && !S_ISREG(st.st_mode);
    return odd;
}

static int find_debuginfo(Dwfl_Module *module, void **data, const char *module_name,
                          Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
                          char **found) {
    VT_SCOPED char *hidden = vt_formatted(".debug/%s", link ? link : "");
    bool odd = file && link &&
               (is_odd_file("", file, link) || is_odd_file("", file, hidden) ||
                is_odd_file("/usr/lib/debug", file, link));
    return odd ? -1
               : dwfl_standard_find_debuginfo(module, data, module_name, base, file, link, crc,
                                              found);
}

static void open_module(struct module *m, const char *path, const char *build_id) {
    /* elfutils keeps pointers to both as long as the Dwfl lives */
    static char *debug_path; /* NULL: the default, .debug and /usr/lib/debug */
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debug_path,
    };
    GElf_Addr bias;
    int fd = path[0] == '/' ? vt_file_open(path, NULL) : -1;
    if (fd < 0)
        return;
    m->dwfl = dwfl_begin(&callbacks);
    if (!m->dwfl) {
        close(fd);
        return;
    }
    dwfl_report_begin(m->dwfl);
    m->dwfl_module = dwfl_report_elf(m->dwfl, vt_basename(path), path, fd, 0, true);
    dwfl_report_end(m->dwfl, NULL, NULL);
    if (!m->dwfl_module) {
        close(fd); /* otherwise the module owns it */
        return;
    }
    Elf *elf = dwfl_module_getelf(m->dwfl_module, &bias);
    m->state = !elf                           ? VT_SYMBOLS_MISSING
               : same_build_id(elf, build_id) ? VT_SYMBOLS_FOUND
                                              : VT_SYMBOLS_CHANGED;
}

/* Whether reading a module's lines costs too much. The C library is at the bottom of every native stack, where it
 * calls main; unpacking its debug information took a third of a report on 4 million events. Its functions' names come
 * from its symbols. */
static bool is_bare(const char *path) {
    const char *name = vt_basename(path);
    return !strncmp(name, "libc.so.", 8) || !strncmp(name, "libc-2.", 7);
}

static struct module *module_of(struct vt_symbols *s, const char *path, const char *build_id) {
    size_t length = strlen(path) + strlen(build_id) + 2;
    struct module *m = vt_alloc(1, sizeof *m + length), *known;
    snprintf(m->key, length, "%s\n%s", path, build_id);
    HASH_FIND_STR(s->modules, m->key, known);
    if (known) {
        free(m);
        return known;
    }
    m->hash = vt_recorded_module(path, build_id);
    m->bare = is_bare(path);
    m->state = VT_SYMBOLS_MISSING;
    uint64_t question = vt_recorded_question(m->hash, VT_RECORDED_STATE, 0, 0, NULL);
    if (vt_answers_replays(s->recorded))
        vt_answers_find(s->recorded, question, vt_recorded_state, &m->state);
    else
        open_module(m, path, build_id);
    vt_answers_keep(s->recorded, question, vt_recorded_state, &m->state);
    HASH_ADD_STR(s->modules, key, m);
    return m;
}

enum vt_symbols_state vt_symbols_state(struct vt_symbols *symbols, const char *path,
                                       const char *build_id) {
    return module_of(symbols, path, build_id)->state;
}

/* --- names --- */

/* The name in the source, without the version that the linker added ("f@@LIB_2.3"). */
static const char *demangled(struct vt_symbols *s, const char *name) {
    const char *version = strchr(name, '@');
    if (version && version > name) {
        VT_SCOPED char *plain = vt_strndup(name, (size_t)(version - name));
        const char *kept = demangled(s, plain);
        return kept;
    }
    VT_SCOPED char *plain = vt_demangle_symbol(name);
    const char *kept = keep_text(s, plain ? plain : name);
    return kept;
}

/* The DIE with a function's place in the source; an inlined or outlined copy refers to it. */
static Dwarf_Die declaration_of(Dwarf_Die *die) {
    Dwarf_Die found = *die, next;
    for (int steps = 0; steps < 16; steps++, found = next) {
        Dwarf_Attribute memory;
        Dwarf_Attribute *link = dwarf_attr(&found, DW_AT_abstract_origin, &memory);
        if (!link)
            link = dwarf_attr(&found, DW_AT_specification, &memory);
        if (!link || !dwarf_formref_die(link, &next))
            break;
    }
    return found;
}

/* "a::b::", for a function without a linkage name: always inlined, or local to its file. */
static void add_scopes(struct vt_scopes *scopes, struct vt_string *name, Dwarf_Die *die) {
    enum { MOST = 64 };
    Dwarf_Die around[MOST], outer = declaration_of(die);
    const char *call = dwarf_diename(die);
    int count = 0;
    while (count < MOST && vt_scopes_outward(scopes, &outer))
        around[count++] = outer;
    while (count-- > 0) {
        int tag = dwarf_tag(&around[count]);
        const char *scope = dwarf_diename(&around[count]);
        size_t length = scope ? strlen(scope) : 0;
        if (tag == DW_TAG_namespace)
            scope = scope ? scope : "(anonymous namespace)";
        else if (tag == DW_TAG_class_type || tag == DW_TAG_structure_type)
            scope = scope                                 ? scope
                    : call && !strcmp(call, "operator()") ? "{lambda}"
                                                          : "(anonymous class)";
        else if (tag != DW_TAG_subprogram || !scope)
            continue;
        else if (call && !strncmp(call, scope, length) && call[length] == '.')
            continue; /* main._omp_fn.0 has its context in its name */
        vt_string_format(name, "%s::", scope);
    }
}

static const char *die_name(struct vt_symbols *s, struct module *m, Dwarf_Die *die) {
    Dwarf_Attribute memory;
    Dwarf_Attribute *linkage = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
    if (!linkage)
        linkage = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &memory);
    const char *name = linkage ? dwarf_formstring(linkage) : NULL;
    if (name)
        return demangled(s, name);
    name = dwarf_diename(die);
    if (!name)
        return NULL;
    VT_SCOPED_STRING whole = {0};
    add_scopes(&m->scopes, &whole, die);
    vt_string_add(&whole, name);
    const char *kept = keep_text(s, whole.text);
    return kept;
}

/* DWARF's file names are relative to the folder where the compiler ran. */
static const char *source_path(struct vt_symbols *s, Dwarf_Die *cu, const char *file) {
    Dwarf_Attribute memory;
    if (!file)
        return NULL;
    if (file[0] == '/')
        return keep_text(s, file);
    const char *folder = dwarf_formstring(dwarf_attr_integrate(cu, DW_AT_comp_dir, &memory));
    if (!folder)
        return keep_text(s, file);
    while (!strncmp(file, "./", 2))
        file += 2;
    VT_SCOPED char *path = vt_formatted("%s/%s", folder, file);
    const char *kept = keep_text(s, path);
    return kept;
}

/* The file of an attribute, by its number in the unit's list. 0, which clang writes, means the unit's own since DWARF
 * 5, and none before. */
static const char *file_named(struct vt_symbols *s, Dwarf_Die *cu, Dwarf_Die *die,
                              unsigned attribute) {
    Dwarf_Attribute memory;
    Dwarf_Word file = 0;
    Dwarf_Files *files;
    Dwarf_Half version;
    if (dwarf_formudata(dwarf_attr(die, attribute, &memory), &file) ||
        dwarf_getsrcfiles(cu, &files, NULL) ||
        dwarf_cu_info(cu->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) ||
        (!file && version < 5))
        return NULL;
    return source_path(s, cu, dwarf_filesrc(files, file, NULL, NULL));
}

/* The line in the enclosing function where an inlined function was called. */
static void call_site(struct vt_symbols *s, Dwarf_Die *cu, Dwarf_Die *inlined,
                      struct vt_symbol *symbol) {
    Dwarf_Attribute memory;
    Dwarf_Word line = 0;
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &memory), &line);
    symbol->line = (uint32_t)line;
    symbol->file = file_named(s, cu, inlined, DW_AT_call_file);
}

/* The compile unit of an address. libdw needs a table for this that gcc writes and clang does not. */
static Dwarf_Die *unit_at(struct module *m, uint64_t address, Dwarf_Addr *bias, Dwarf_Die *memory) {
    Dwarf_Die *cu = dwfl_module_addrdie(m->dwfl_module, address, bias);
    Dwarf *dwarf = cu ? NULL : dwfl_module_getdwarf(m->dwfl_module, bias);
    return dwarf && vt_scopes_unit(&m->scopes, dwarf, address - *bias, memory) ? memory : cu;
}

/* Finds the functions at an address. Returns their number. */
static uint32_t from_dwarf(struct vt_symbols *s, struct module *m, uint64_t address,
                           struct vt_symbol out[VT_SYMBOLS_MOST]) {
    Dwarf_Addr bias;
    Dwarf_Die unit, *cu = unit_at(m, address, &bias, &unit);
    if (!cu)
        return 0;
    struct vt_symbol symbol = {0};
    Dwarf_Line *line = dwarf_getsrc_die(cu, address - bias);
    int number;
    if (line) {
        symbol.file = source_path(s, cu, dwarf_linesrc(line, NULL, NULL));
        if (!dwarf_lineno(line, &number) && number > 0)
            symbol.line = (uint32_t)number;
    }
    Dwarf_Die around[VT_SYMBOLS_MOST], whole = vt_scopes_whole_unit(cu);
    uint32_t found = 0;
    uint32_t count = vt_scopes_at(&m->scopes, &whole, address - bias, around, VT_SYMBOLS_MOST);
    for (; found < count; found++) {
        symbol.function = die_name(s, m, &around[found]);
        out[found] = symbol;
        call_site(s, &whole, &around[found], &symbol);
    }
    if (!found && line)
        out[found++] = symbol;
    return found;
}

/* The same by symbols, if the debug information has no name. */
static void from_files(struct vt_symbols *s, struct module *m, uint64_t address,
                       struct vt_recorded_symbols *found) {
    GElf_Off offset;
    GElf_Sym sym;
    found->count = m->bare ? 0 : from_dwarf(s, m, address, found->row);
    if (found->count && found->row[found->count - 1].function)
        return;
    const char *name = vt_elf_symbols_at(&m->elf_symbols, m->dwfl_module, address, &sym, &offset);
    if (!name)
        return;
    if (!found->count)
        found->row[found->count++] = (struct vt_symbol){0};
    found->row[found->count - 1].function = demangled(s, name);
}

static void from_answers(struct vt_symbols *s, uint64_t question,
                         struct vt_recorded_symbols *found) {
    if (!vt_answers_find(s->recorded, question, vt_recorded_symbols, found))
        found->count = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        found->row[i].function = keep_text(s, found->row[i].function);
        found->row[i].file = keep_text(s, found->row[i].file);
    }
}

uint32_t vt_symbols_at(struct vt_symbols *s, const char *path, const char *build_id,
                       uint64_t address, const struct vt_symbol **out) {
    struct module *m = module_of(s, path, build_id);
    if (m->state != VT_SYMBOLS_FOUND)
        return 0;
    uint32_t known = vt_map_get(&m->answer_of, address);
    if (known == VT_MAP_NONE) {
        struct vt_recorded_symbols found;
        uint64_t question = vt_recorded_question(m->hash, VT_RECORDED_AT, address, 0, NULL);
        if (vt_answers_replays(s->recorded))
            from_answers(s, question, &found);
        else
            from_files(s, m, address, &found);
        vt_answers_keep(s->recorded, question, vt_recorded_symbols, &found);
        struct vt_symbol *rows = vt_alloc(found.count, sizeof *rows);
        memcpy(rows, found.row, found.count * sizeof *rows);
        VT_GROW(s->rows, s->row_count, s->row_room);
        s->rows[s->row_count] = rows;
        VT_GROW(s->answers, s->answer_count, s->answer_room);
        s->answers[s->answer_count] = (struct answer){(uint32_t)s->row_count++, found.count};
        known = s->answer_count++;
        vt_map_put(&m->answer_of, address, known);
    }
    *out = s->rows[s->answers[known].first];
    return s->answers[known].count;
}

bool vt_symbols_frame(struct vt_symbols *s, const char *path, const char *build_id,
                      uint64_t address, struct vt_symbol *found) {
    const struct vt_symbol *at;
    uint32_t count = vt_symbols_at(s, path, build_id, address, &at), i = count;
    if (!count)
        return false;
    while (i-- > 1)
        if (at[i].function && at[i].file && !strstr(at[i].file, "/include/c++/"))
            break;
    *found = at[i];
    const char *clone = found->function ? strstr(found->function, " [clone ") : NULL;
    if (clone) { /* the compiler's suffix for its copy */
        VT_SCOPED char *name = vt_strndup(found->function, (size_t)(clone - found->function));
        found->function = keep_text(s, name);
    }
    return true;
}

/* The symbol of the thread-local variable at an offset in the module's initial storage. */
static const char *thread_local_at(Dwfl_Module *module, uint64_t address, GElf_Sym *sym,
                                   GElf_Off *offset) {
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    size_t headers = 0;
    uint64_t start = UINT64_MAX;
    if (!elf || elf_getphdrnum(elf, &headers))
        return NULL;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_TLS)
            start = header.p_vaddr + bias;
    }
    if (address < start)
        return NULL;
    for (int i = 1, n = dwfl_module_getsymtab(module); i < n; i++) {
        const char *name = dwfl_module_getsym(module, i, sym, NULL);
        *offset = address - start - sym->st_value;
        if (name && GELF_ST_TYPE(sym->st_info) == STT_TLS && *offset < sym->st_size)
            return name;
    }
    return NULL;
}

/* A name without the compiler's suffixes: kept.0, kept.lto_priv.0, path[abi:cxx11], and clang's workspace.scratch, a
 * static variable of a function. */
static const char *without_marks(struct vt_symbols *s, const char *name) {
    char *text = vt_strdup(name), *dot = strrchr(text, '.'), *mark, *end;
    if (dot && dot != text && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")])
        *dot = 0;
    if ((mark = strstr(text, ".lto_priv")))
        *mark = 0;
    dot = strchr(text, '.');
    if (dot && dot != text && dot[1] && !dot[1 + strcspn(dot + 1, ".: ")] &&
        !text[strcspn(text, ": ")])
        memmove(text, dot + 1, strlen(dot));
    while ((mark = strstr(text, "[abi:")) && (end = strchr(mark, ']')))
        memmove(mark, end + 1, strlen(end));
    name = keep_text(s, text);
    free(text);
    return name;
}

static bool is_weak(Dwarf_Die *variable) {
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    const char *name =
        dwarf_formref_die(dwarf_attr_integrate(variable, DW_AT_type, &attribute), &type)
            ? dwarf_diename(&type)
            : NULL;
    return name && !strncmp(name, "weak_ptr<", 9);
}

/* A variable in the module's symbols and its debug information. */
struct known_variable {
    struct module *module;
    const char *name;
    GElf_Off offset; /* the requested address's offset in the variable */
    GElf_Sym sym;
    Dwarf_Die die;
    bool has_die, whole;
    uint64_t part; /* if it is not whole: the offset of the symbol's part */
    Dwarf_Addr address;
};

static bool find_variable(struct vt_symbols *s, const char *path, const char *build_id,
                          uint64_t address, bool is_thread_local, struct known_variable *v) {
    struct module *m = module_of(s, path, build_id);
    Dwarf_Addr bias;
    *v = (struct known_variable){.module = m};
    if (m->state == VT_SYMBOLS_FOUND)
        v->name = is_thread_local ? thread_local_at(m->dwfl_module, address, &v->sym, &v->offset)
                                  : vt_elf_symbols_at(&m->elf_symbols, m->dwfl_module, address,
                                                      &v->sym, &v->offset);
    /* the nearest symbol below is not enough: it may be another variable's */
    if (!v->name || (!is_thread_local && (GELF_ST_TYPE(v->sym.st_info) != STT_OBJECT ||
                                          v->offset >= (v->sym.st_size ? v->sym.st_size : 1))))
        return false;
    Dwarf *dwarf = dwfl_module_getdwarf(m->dwfl_module, &bias);
    v->address = address - bias;
    v->has_die =
        dwarf && vt_variables_find(&m->variables, dwarf,
                                   is_thread_local ? v->sym.st_value : address - v->offset - bias,
                                   is_thread_local, &v->die, &v->whole, &v->part);
    return true;
}

/* vt_symbols_variable, from the module's files. */
static bool read_variable(struct vt_symbols *s, const char *path, const char *build_id,
                          uint64_t address, bool is_thread_local, bool asks,
                          const struct vt_log_around *around, struct vt_variable_symbol *found) {
    struct known_variable v;
    Dwarf_Die unit;
    if (!find_variable(s, path, build_id, address, is_thread_local, &v))
        return false;
    found->hidden = GELF_ST_BIND(v.sym.st_info) == STB_LOCAL;
    found->name = without_marks(s, demangled(s, v.name));
    found->address = address - v.offset;
    if (!v.has_die)
        return true;
    Dwarf_Die declared = declaration_of(&v.die);
    if (!dwarf_diecu(&declared, &unit, NULL, NULL))
        return true;
    int line;
    found->file = file_named(s, &unit, &declared, DW_AT_decl_file);
    if (!dwarf_decl_line(&declared, &line) && line > 0)
        found->line = (uint32_t)line;
    found->weak = is_weak(&v.die);
    struct vt_word_in word = {v.die, v.part + v.offset, !v.whole, v.address};
    found->stale = around && vt_left_over_is(&word, around, &found->may_be_unused);
    found->leads_to = asks ? vt_weak_of(&declared) : VT_WEAK_UNKNOWN;
    return true;
}

bool vt_symbols_variable(struct vt_symbols *s, const char *path, const char *build_id,
                         uint64_t address, bool is_thread_local, bool asks,
                         const struct vt_log_around *around, struct vt_variable_symbol *found) {
    uint64_t question =
        vt_recorded_question(module_of(s, path, build_id)->hash, VT_RECORDED_VARIABLE, address,
                             is_thread_local | (unsigned)asks << 1, around);
    *found = (struct vt_variable_symbol){0};
    if (vt_answers_replays(s->recorded))
        return vt_answers_find(s->recorded, question, vt_recorded_variable, found);
    if (!read_variable(s, path, build_id, address, is_thread_local, asks, around, found))
        return false;
    vt_answers_keep(s->recorded, question, vt_recorded_variable, found);
    return true;
}

/* vt_symbols_slot, from the module's files. */
static bool read_slot(struct vt_symbols *s, const char *path, const char *build_id,
                      uint64_t address, bool is_thread_local, const struct vt_log_around *around,
                      struct vt_slot *slot) {
    struct known_variable v;
    if (!find_variable(s, path, build_id, address, is_thread_local, &v) || !v.has_die || !v.whole ||
        !vt_slot_of(&v.die, v.offset, around, slot))
        return false;
    slot->array = vt_mix(slot->array ^ vt_hash_bytes(address - v.offset, path, strlen(path)));
    return true;
}

bool vt_symbols_slot(struct vt_symbols *s, const char *path, const char *build_id, uint64_t address,
                     bool is_thread_local, const struct vt_log_around *around,
                     struct vt_slot *slot) {
    uint64_t question = vt_recorded_question(module_of(s, path, build_id)->hash, VT_RECORDED_SLOT,
                                             address, is_thread_local, around);
    if (vt_answers_replays(s->recorded))
        return vt_answers_find(s->recorded, question, vt_recorded_slot, slot);
    if (!read_slot(s, path, build_id, address, is_thread_local, around, slot))
        return false;
    vt_answers_keep(s->recorded, question, vt_recorded_slot, slot);
    return true;
}
