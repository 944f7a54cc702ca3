//! A name in one object that is loaded, found by the table that the object brings for its loader. The loader itself would search files for
//! an object that it does not know by the name given, and takes the lock that a thread has while it loads one. The search for the C++
//! runtime calls it, once a process.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// Entries of an object's table, `DT_...`.
mod tag {
    pub(super) const NULL: i64 = 0;
    pub(super) const STRTAB: i64 = 5;
    pub(super) const SYMTAB: i64 = 6;
    pub(super) const GNU_HASH: i64 = 0x6FFF_FEF5;
}

/// An entry of the table.
#[repr(C)]
struct Entry {
    tag: i64,
    value: usize,
}

/// Names that the object shows, and GNU's hash table of them. Every linker of today writes one.
#[derive(Clone, Copy)]
struct Names {
    symbols: *const libc::Elf64_Sym,
    texts: *const c_char,
    hash: *const u32,
}

/// The function that `object` shows by this name; null if it has none.
///
/// # Safety
/// The object is loaded, and stays so during the call.
pub(super) unsafe fn find(object: &libc::dl_phdr_info, name: &CStr) -> *mut c_void {
    let base = object.dlpi_addr as usize;
    // SAFETY: as the caller promises, these are its headers, and its table where one of them says.
    unsafe {
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
        let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
            return ptr::null_mut();
        };
        let table = ptr::with_exposed_provenance(base + header.p_vaddr as usize);
        match Names::of(table, base) {
            Some(names) => names.find(name, base),
            None => ptr::null_mut(),
        }
    }
}

impl Names {
    /// # Safety
    /// `entry` is the table of an object that is loaded at `base`.
    unsafe fn of(mut entry: *const Entry, base: usize) -> Option<Names> {
        let mut names = Names { symbols: ptr::null(), texts: ptr::null(), hash: ptr::null() };
        // SAFETY: the table ends with NULL.
        while let &Entry { tag, value } = unsafe { &*entry }
            && tag != tag::NULL
        {
            // glibc has added the base already, but for the kernel's object; others have not.
            let place = if value < base { value + base } else { value };
            match tag {
                tag::SYMTAB => names.symbols = ptr::with_exposed_provenance(place),
                tag::STRTAB => names.texts = ptr::with_exposed_provenance(place),
                tag::GNU_HASH => names.hash = ptr::with_exposed_provenance(place),
                _ => {}
            }
            entry = entry.wrapping_add(1);
        }
        let all = !names.symbols.is_null() && !names.texts.is_null() && !names.hash.is_null();
        all.then_some(names)
    }

    /// # Safety
    /// These are the names of an object that is loaded at `base`.
    unsafe fn find(&self, name: &CStr, base: usize) -> *mut c_void {
        let hash = hash_of(name);
        // SAFETY: the hash table is, in words of 4 bytes: how many buckets, the first symbol that is in it, how many words of 8 bytes the filter
        // has, one more; the filter, the buckets, and for each symbol its hash, the last bit of which says that it is the last of its bucket.
        unsafe {
            let word = |at: usize| *self.hash.wrapping_add(at);
            let (buckets, first, filter) = (word(0), word(1), word(2) as usize * 2);
            if buckets == 0 {
                return ptr::null_mut();
            }
            let bucket = |at: u32| word(4 + filter + at as usize);
            let chain = |symbol: u32| word(4 + filter + buckets as usize + (symbol - first) as usize);
            let mut at = bucket(hash % buckets);
            if at < first {
                return ptr::null_mut();
            }
            loop {
                let its_hash = chain(at);
                let symbol = &*self.symbols.wrapping_add(at as usize);
                let is_there = symbol.st_shndx != 0 && symbol.st_value != 0;
                if its_hash | 1 == hash | 1
                    && is_there
                    && CStr::from_ptr(self.texts.wrapping_add(symbol.st_name as usize)) == name
                {
                    return ptr::with_exposed_provenance_mut(base + symbol.st_value as usize);
                }
                if its_hash & 1 != 0 {
                    return ptr::null_mut();
                }
                at += 1;
            }
        }
    }
}

/// GNU's hash.
fn hash_of(name: &CStr) -> u32 {
    name.to_bytes().iter().fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Asked {
        name: &'static CStr,
        found: *mut c_void,
    }

    unsafe extern "C" fn visit(object: *mut libc::dl_phdr_info, _: usize, asked: *mut c_void) -> libc::c_int {
        // SAFETY: as `dl_iterate_phdr` says.
        unsafe {
            let asked = &mut *asked.cast::<Asked>();
            asked.found = find(&*object, asked.name);
            libc::c_int::from(!asked.found.is_null())
        }
    }

    fn find_anywhere(name: &'static CStr) -> *mut c_void {
        let mut asked = Asked { name, found: ptr::null_mut() };
        // SAFETY: the answer lives during the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut asked).cast()) };
        asked.found
    }

    #[test]
    fn names_are_found_where_the_loader_finds_them() {
        for name in [c"getpid", c"_Unwind_Backtrace"] {
            // SAFETY: the name is a C string.
            let loaders = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            assert!(!loaders.is_null() && find_anywhere(name) == loaders, "{name:?}");
        }
        assert!(find_anywhere(c"no_library_has_this_name").is_null());
    }
}
