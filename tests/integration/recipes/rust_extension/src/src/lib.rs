//! A Python module of one function, `count(words: bytes) -> int`, on the few functions of Python's stable ABI it needs.

use std::os::raw::{c_char, c_int, c_long, c_void};
use std::ptr::{null, null_mut};

type Object = *mut c_void;

#[repr(C)]
struct Method {
    name: *const c_char,
    function: Option<unsafe extern "C" fn(Object, Object) -> Object>,
    flags: c_int,
    doc: *const c_char,
}

#[repr(C)]
struct ModuleBase {
    references: isize,
    kind: Object,
    init: *const c_void,
    index: isize,
    copy: Object,
}

#[repr(C)]
struct Module {
    base: ModuleBase,
    name: *const c_char,
    doc: *const c_char,
    size: isize,
    methods: *mut Method,
    slots: *const c_void,
    traverse: *const c_void,
    clear: *const c_void,
    free: *const c_void,
}

extern "C" {
    fn PyModule_Create2(module: *mut Module, version: c_int) -> Object;
    fn PyBytes_AsStringAndSize(object: Object, text: *mut *mut c_char, size: *mut isize) -> c_int;
    fn PyLong_FromLong(value: c_long) -> Object;
}

const TAKES_ONE_OBJECT: c_int = 8;
const STABLE_ABI: c_int = 3;

unsafe extern "C" fn count(_module: Object, words: Object) -> Object {
    let (mut text, mut size) = (null_mut(), 0);
    if PyBytes_AsStringAndSize(words, &mut text, &mut size) != 0 {
        return null_mut();
    }
    let bytes = std::slice::from_raw_parts(text as *const u8, size as usize);
    PyLong_FromLong(bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() as c_long)
}

static mut METHODS: [Method; 2] = [
    Method {
        name: b"count\0".as_ptr() as *const c_char,
        function: Some(count),
        flags: TAKES_ONE_OBJECT,
        doc: b"How many words there are.\0".as_ptr() as *const c_char,
    },
    Method { name: null(), function: None, flags: 0, doc: null() },
];

static mut MODULE: Module = Module {
    base: ModuleBase { references: 1, kind: null_mut(), init: null(), index: 0, copy: null_mut() },
    name: b"tally\0".as_ptr() as *const c_char,
    doc: null(),
    size: -1,
    methods: null_mut(),
    slots: null(),
    traverse: null(),
    clear: null(),
    free: null(),
};

/// Called by Python when the module is imported.
#[no_mangle]
pub unsafe extern "C" fn PyInit_tally() -> Object {
    MODULE.methods = METHODS.as_mut_ptr();
    PyModule_Create2(&mut MODULE, STABLE_ABI)
}
