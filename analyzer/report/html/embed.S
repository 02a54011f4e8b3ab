/* SPDX-License-Identifier: MIT */
/*
 * The parts of the HTML report's page, as bytes in the program, each with its size. html.c writes them. The Makefile
 * sets the paths of our joined scripts and of d3; without d3 its size is 0.
 */
    .section .rodata

    .macro part name:req, file
    .globl vt_html_\name, vt_html_\name\()_size
    .balign 8
vt_html_\name\()_size:
    .quad 2f - 1f
vt_html_\name:
1:
    .ifnb \file
    .incbin "\file"
    .endif
2:
    .endm

    part style, "analyzer/report/html/style.css"
    part script, VT_PAGE_JS
#ifdef VT_D3_JS
    part d3, VT_D3_JS
#else
    part d3
#endif

    .section .note.GNU-stack,"",@progbits
