/* SPDX-License-Identifier: MIT */
#include "late.h"

static Piece in_library("a static destructor of an opened library");
