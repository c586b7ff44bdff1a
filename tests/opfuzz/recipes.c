/* recipes.c - small valid graphs for the ops that have no cases: handles with the ops that create them, data sets
 * with their iterators, and control flow.  model_read parses the notation.  Every node runs, and the outputs of the
 * last one are fetched. */
#include "tests/opfuzz/opfuzz.h"

#define SCALARS " output_types=[int64] output_shapes=[[]]\n"
#define VECTORS " output_types=[int64] output_shapes=[[-1]]\n"
#define STRINGS " output_types=[string] output_shapes=[[]]\n"
#define RANGE "d = RangeDataset(i64[] 0; i64[] 6; i64[] 1)" SCALARS
#define NO_ARGS " Targuments=[]"
/* The first elements of x, counted. */
#define COUNTED                                                                                                        \
  "t = TakeDataset(x; i64[] 9)" SCALARS "n = ReduceDataset(t; i64[] 0) f=@count Tstate=[int64]" NO_ARGS SCALARS
#define COUNTED_STRINGS                                                                                                \
  "t = TakeDataset(x; i64[] 9)" STRINGS "n = ReduceDataset(t; i64[] 0) f=@count_strings Tstate=[int64]" NO_ARGS SCALARS
#define COUNTED_VARIANTS                                                                                               \
  "t = TakeDataset(x; i64[] 9) output_types=[variant] output_shapes=[[]]\n"                                            \
  "n = ReduceDataset(t; i64[] 0) f=@count_variants Tstate=[int64]" NO_ARGS SCALARS
#define OVER_RANGE(op, inputs, attrs) RANGE "x = " op "(d" inputs ")" attrs COUNTED

#define REDUCER                                                                                                        \
  " key_func=@parity init_func=@parity reduce_func=@count finalize_func=@add_one Tkey_func_other_arguments=[] "        \
  "Tinit_func_other_arguments=[] Treduce_func_other_arguments=[] Tfinalize_func_other_arguments=[]"
#define CSV_GRAPH(op, more)                                                                                            \
  "x = " op "(str[1] \"text.txt\"; str[] \"\"; i64[] 64; bool[] false; str[] \",\"; bool[] true; str[] \"\"; i64[0]; " \
  "str[1] \"a\"" more ") output_types=[string] output_shapes=[[]]\n" COUNTED_STRINGS
#define DENSE_TABLE(op, V)                                                                                             \
  "t = " op "(i64[] -1; i64[] -2) key_dtype=int64 value_dtype=float value_shape=[] initial_num_buckets=8\n"            \
  "i = LookupTableInsert" V "(t; i64[2] 1 2; f32[2] 3 4)\nx = LookupTableFind" V "(t; i64[2] 2 9; f32[] 0; ^i)"
#define WRITER                                                                                                         \
  "w = SummaryWriter() shared_name='w'\n"                                                                              \
  "c = CreateSummaryFileWriter(w; str[] \"logs\"; i32[] 10; i32[] 100; str[] \".x\")\n"
#define STATS(old, v, kind)                                                                                            \
  RANGE "a = " old "StatsAggregatorHandle" v "() shared_name='a'\nr = " old kind "Dataset(d; str[] \"t\")" SCALARS     \
        "x = " old "SetStatsAggregatorDataset(r; a; str[] \"m\"; str[] \"p\")" SCALARS COUNTED "s = " old              \
        "StatsAggregatorSummary(a; ^n)"
#define BARRIER                                                                                                        \
  "b = Barrier() component_types=[float,int32] shapes=[[2],[]] shared_name='b'\n"                                      \
  "i = BarrierInsertMany(b; str[2] \"a\" \"b\"; f32[2,2] 1 2 3 4) component_index=0\n"                                 \
  "j = BarrierInsertMany(b; str[1] \"b\"; i32[1] 5; ^i) component_index=1\n"
#define STAGED_MAP(kind)                                                                                               \
  "s = " kind "Stage(i64[] 7; i32[1] 0; f32[2] 1 2) dtypes=[float] shared_name='a'\n"                                  \
  "u = " kind "Stage(i64[] 8; i32[1] 0; f32[2] 3 4; ^s) dtypes=[float] shared_name='a'\n"                              \
  "n = " kind "Size(^u) dtypes=[float] shared_name='a'\nm = " kind                                                     \
  "IncompleteSize(^n) dtypes=[float] shared_name='a'\n"                                                                \
  "p = " kind "Peek(i64[] 7; i32[1] 0; ^m) dtypes=[float] shared_name='a'\n"                                           \
  "x = " kind "Unstage(i64[] 7; i32[1] 0; ^p) dtypes=[float] shared_name='a'\n"                                        \
  "y = " kind "UnstageNoKey(i32[1] 0; ^x) dtypes=[float] shared_name='a'\nc = " kind                                   \
  "Clear(^y) dtypes=[float] shared_name='a'"

const char *const fuzz_functions[] = {
    "fn add_one x:int64 -> y:0:int64\ny = AddV2(x; i64[] 1)",
    "fn is_even x:int64 -> y:0:bool\nm = FloorMod(x; i64[] 2)\ny = Equal(m; i64[] 0)",
    "fn small x:int64 -> y:0:bool\ny = Less(x; i64[] 4)",
    "fn to_range x:int64 -> d:0:variant\nd = RangeDataset(i64[] 0; x; i64[] 1)" SCALARS,
    "fn same_set d:variant -> y:0:variant\ny = Identity(d)",
    "fn flat d:variant -> x:0:variant\nx = FlatMapDataset(d) f=@same_set" NO_ARGS SCALARS,
    "fn parity x:int64 -> y:0:int64\ny = FloorMod(x; i64[] 2)",
    "fn two k:int64 -> w:0:int64\nw = Identity(i64[] 2)",
    "fn batch_window k:int64 d:variant -> b:0:variant\nb = BatchDataset(d; i64[] 2)" VECTORS,
    "fn count s:int64 e:int64 -> y:0:int64\ny = AddV2(s; i64[] 1)",
    "fn count_strings s:int64 e:string -> y:0:int64\ny = AddV2(s; i64[] 1)",
    "fn count_variants s:int64 e:variant -> y:0:int64\ny = AddV2(s; i64[] 1)",
    "fn scan s:int64 e:int64 -> y:0:int64 y:0:int64\ny = AddV2(s; e)",
    "fn make_range -> d:0:variant\nd = RangeDataset(i64[] 0; i64[] 3; i64[] 1)" SCALARS,
    "fn three -> c:0:int64\nc = Identity(i64[] 3)",
    "fn double x:float -> y:0:float\ny = Mul(x; f32[] 2)",
    "fn scale i:int32 x:float -> y:0:float\nf = Cast(i) DstT=float\ny = Mul(x; f)",
    "fn halve x:float -> y:0:float\ny = Mul(x; f32[] 0.5)",
    "fn below_three i:int32 x:float -> c:0:bool\nc = Less(i; i32[] 3)",
    "fn step i:int32 x:float -> n:0:int32 y:0:float\nn = AddV2(i; i32[] 1)\ny = Mul(x; f32[] 2)",
    NULL};

#define QUEUES(V, kind)                                                                                                \
  "q = " kind "Queue" V "() component_types=[float] shapes=[[2]] capacity=10\n"                                        \
  "e = QueueEnqueue" V "(q; f32[2] 1 2)\nm = QueueEnqueueMany" V "(q; f32[3,2] seq; ^e)\n"
#define QUEUE_GRAPHS(V, kind)                                                                                          \
  QUEUES(V, kind)                                                                                                      \
  "s = QueueSize" V "(q; ^m)\nc = QueueIsClosed" V "(q; ^s)\n"                                                         \
  "x = QueueDequeue" V "(q; ^c) component_types=[float]",                                                              \
      QUEUES(V, kind) "x = QueueDequeueMany" V "(q; i32[] 2; ^m) component_types=[float]",                             \
      QUEUES(V, kind) "c = QueueClose" V "(q; ^m)\n"                                                                   \
                      "x = QueueDequeueUpTo" V "(q; i32[] 3; ^c) component_types=[float]"

#define READER_GRAPHS(V, reader, file)                                                                                 \
  "q = FIFOQueue" V "() component_types=[string] shapes=[[]]\nr = " reader "e = QueueEnqueueMany" V                    \
  "(q; str[4] \"" file "\")\nc = QueueClose" V "(q; ^e)\nx = ReaderRead" V "(r; q; ^c)\n"                              \
  "u = ReaderReadUpTo" V "(r; q; i64[] 2; ^x)\n"                                                                       \
  "n = ReaderNumRecordsProduced" V "(r; ^u)\nw = ReaderNumWorkUnitsCompleted" V "(r; ^n)\nz = ReaderReset" V "(r; ^w)"
#define READERS(V)                                                                                                     \
  READER_GRAPHS(V, "TextLineReader" V "() skip_header_lines=0\n", "text.txt"),                                         \
      READER_GRAPHS(V, "TFRecordReader" V "()\n", "data.tfrecord"),                                                    \
      READER_GRAPHS(V, "WholeFileReader" V "()\n", "text.txt"),                                                        \
      READER_GRAPHS(V, "FixedLengthRecordReader" V "() record_bytes=4 header_bytes=2 footer_bytes=2\n", "bytes.bin"),  \
      READER_GRAPHS(V, "IdentityReader" V "()\n", "text.txt"),                                                         \
      "q = FIFOQueue" V "() component_types=[string] shapes=[[]]\nr = IdentityReader" V "()\n"                         \
      "e = QueueEnqueueMany" V "(q; str[2] \"a\" \"b\")\nx = ReaderRead" V "(r; q; ^e)\n"                              \
      "s = ReaderSerializeState" V "(r; ^x)\nz = ReaderRestoreState" V "(r; s)"

#define TABLE(V, made)                                                                                                 \
  "t = " made V "() key_dtype=int64 value_dtype=float\ni = LookupTableInsert" V                                        \
  "(t; i64[2] 1 2; f32[2] 3 4)\nf = LookupTableFind" V "(t; i64[3] 2 1 9; f32[] -1; ^i)\ns = LookupTableSize" V        \
  "(t; ^f)\ne = LookupTableExport" V "(t; ^s) Tkeys=int64 Tvalues=float"
#define FIXED_TABLE(V)                                                                                                 \
  "t = HashTable" V "() key_dtype=string value_dtype=int64\ni = InitializeTable" V                                     \
  "(t; str[2] \"a\" \"b\"; i64[2] 3 4)\nf = LookupTableFind" V "(t; str[2] \"b\" \"z\"; i64[] -1; ^i)",                \
      "t = HashTable" V "() key_dtype=string value_dtype=int64\ni = InitializeTableFromTextFile" V                     \
      "(t; str[] \"vocab.txt\") key_index=-2 value_index=-1\nf = LookupTableFind" V                                    \
      "(t; str[2] \"b\" \"z\"; i64[] -1; ^i)"
#define VECTOR_TABLE(V, made)                                                                                          \
  "t = " made V "() key_dtype=int64 value_dtype=float value_shape=[2]\ni = LookupTableImport" V                        \
  "(t; i64[2] 1 2; f32[2,2] 3 4 5 6)\nf = LookupTableFind" V "(t; i64[3] 2 1 9; f32[2] -1 0; ^i)"

#define ARRAY(V) "a = TensorArray" V "(i32[] 3) dtype=float dynamic_size=true clear_after_read=false\n"
/* Version 3 has a flow output; the others start from a constant. */
#define ARRAY_GRAPHS(V, FLOW)                                                                                          \
  ARRAY(V)                                                                                                             \
  "w = TensorArrayWrite" V "(a; i32[] 0; f32[2] 1 2; " FLOW ")\nr = TensorArrayRead" V                                 \
  "(a; i32[] 0; w) dtype=float\nz = TensorArraySize" V "(a; w; ^r)",                                                   \
      ARRAY(V) "s = TensorArrayScatter" V "(a; i32[3] 2 0 1; f32[3,2] seq; " FLOW ")\ng = TensorArrayGather" V         \
               "(a; i32[2] 0 2; s) dtype=float\nc = TensorArrayClose" V "(a; ^g)",                                     \
      ARRAY(V) "s = TensorArraySplit" V "(a; f32[4] seq; i64[3] 1 2 1; " FLOW ")\ng = TensorArrayConcat" V             \
               "(a; s) dtype=float",                                                                                   \
      ARRAY(V) "w = TensorArrayScatter" V "(a; i32[3] 2 0 1; f32[3,2] seq; " FLOW ")\ng = TensorArrayGrad" V           \
               "(a; w) source='g'\nz = TensorArraySize" V "(g; w)"

#define STACKS(V, make)                                                                                                \
  "h = " make " elem_type=float\np = StackPush" V "(h; f32[2] 1 2)\nx = StackPop" V                                    \
  "(h; ^p) elem_type=float\nc = StackClose" V "(h; ^x)"

#define LIST "l = TensorListFromTensor(f32[3,2] seq; i32[1] 2)\n"

#define TREES                                                                                                          \
  "t = BoostedTreesEnsembleResourceHandleOp() shared_name='t'\n"                                                       \
  "c = BoostedTreesCreateEnsemble(t; i64[] 0; str[] \"\")\n"
#define GROWN_TREES                                                                                                    \
  TREES "u = BoostedTreesUpdateEnsemble(t; i32[1] 0; i32[1] 0; f32[1] 1; i32[1] 1; f32[1,1] 1; f32[1,1] 2; i32[] 3; "  \
        "f32[] 0.1; ^c) pruning_mode=0\n"
#define QUANTILES                                                                                                      \
  "q = BoostedTreesQuantileStreamResourceHandleOp() shared_name='q'\n"                                                 \
  "c = BoostedTreesCreateQuantileStreamResource(q; f32[] 0.1; i64[] 1)\n"                                              \
  "a = BoostedTreesQuantileStreamResourceAddSummaries(q; f32[3,4] 1 1 0 1 2 1 1 2 3 1 2 3; ^c)\n"

#define ACCUMULATED "a = ConditionalAccumulator() dtype=float shape=[2]\n"
#define ACCUMULATED_RESOURCE "a = ResourceConditionalAccumulator() dtype=float shape=[2]\n"

const char *const fuzz_recipes[] = {
    QUEUE_GRAPHS("V2", "FIFO"), QUEUE_GRAPHS("", "FIFO"), QUEUE_GRAPHS("V2", "PaddingFIFO"),
    QUEUE_GRAPHS("", "PaddingFIFO"), QUEUE_GRAPHS("V2", "RandomShuffle"), QUEUE_GRAPHS("", "RandomShuffle"),
    "m = SparseTensorToCSRSparseMatrix(i64[5,2] 0 0 1 1 2 1 2 2 3 3; f32[5] 1 2 1 3 4; i64[2] 4 4)\n"
    "o = SparseMatrixOrderingAMD(m)\nc = SparseMatrixSparseCholesky(m; o) type=float\n"
    "x = CSRSparseMatrixToDense(c) type=float",
    "q = PriorityQueueV2() component_types=[float] shapes=[[2]]\ne = QueueEnqueueV2(q; i64[] 3; f32[2] 1 2)\n"
    "x = QueueDequeueV2(q; ^e) component_types=[int64,float]",
    "q = PriorityQueue() component_types=[float] shapes=[[2]]\ne = QueueEnqueueMany(q; i64[2] 3 1; f32[2,2] 1 2)\n"
    "x = QueueDequeueMany(q; i32[] 2; ^e) component_types=[int64,float]",
    READERS("V2"), READERS(""), TABLE("V2", "MutableHashTable"), TABLE("", "MutableHashTable"), FIXED_TABLE("V2"),
    FIXED_TABLE(""), VECTOR_TABLE("V2", "MutableHashTableOfTensors"), VECTOR_TABLE("", "MutableHashTableOfTensors"),
    "t = AnonymousMutableHashTable() key_dtype=int64 value_dtype=float\ni = LookupTableInsertV2(t; i64[2] 1 2; f32[2] "
    "3 4)\n"
    "d = LookupTableRemoveV2(t; i64[1] 1; ^i) Tin=int64\ns = LookupTableSizeV2(t; ^d)",
    "t = AnonymousHashTable() key_dtype=int64 value_dtype=float\ni = InitializeTableV2(t; i64[2] 1 2; f32[2] 3 4)\n"
    "s = LookupTableSizeV2(t; ^i)",
    "t = AnonymousMutableHashTableOfTensors() key_dtype=int64 value_dtype=float value_shape=[2]\n"
    "i = LookupTableInsertV2(t; i64[2] 1 2; f32[2,2] 3 4 5 6)\ns = LookupTableSizeV2(t; ^i)",
    ARRAY_GRAPHS("V3", "a:1"), ARRAY_GRAPHS("V2", "f32[] 0"), ARRAY_GRAPHS("", "f32[] 0"),
    ARRAY("V3") "g = TensorArrayGradWithShape(a; a:1; i32[1] 2) source='g'\nz = TensorArraySizeV3(g; g:1)",
    ARRAY("") "s = TensorArrayUnpack(a; f32[3,2] seq; f32[] 0)\np = TensorArrayPack(a; s) dtype=float",
    STACKS("V2", "StackV2(i32[] 4)"), STACKS("", "Stack()"),
    "l = EmptyTensorList(i32[1] 2; i32[] 5) element_dtype=float\np = TensorListPushBack(l; f32[2] 1 2)\n"
    "o = TensorListPopBack(p; i32[1] 2) element_dtype=float",
    "l = TensorListReserve(i32[1] 2; i32[] 3) element_dtype=float\ns = TensorListSetItem(l; i32[] 1; f32[2] 1 2)\n"
    "g = TensorListGetItem(s; i32[] 1; i32[1] 2) element_dtype=float",
    LIST "g = TensorListGetItem(l; i32[] 1; i32[1] 2) element_dtype=float",
    LIST "s = TensorListStack(l; i32[1] 2) element_dtype=float",
    LIST "s = TensorListGather(l; i32[2] 2 0; i32[1] 2) element_dtype=float",
    LIST "s = TensorListConcat(l) element_dtype=float",
    LIST "s = TensorListConcatV2(l; i32[1] 2; i64[0] 0) element_dtype=float",
    LIST "c = TensorListConcatLists(l; l) element_dtype=float\nn = TensorListLength(c)",
    LIST "r = TensorListResize(l; i32[] 5)\nn = TensorListLength(r)",
    LIST "n = TensorListElementShape(l) shape_type=int32",
    LIST "s = TensorListScatterIntoExistingList(l; f32[2,2] 9; i32[2] 2 0)\nn = TensorListLength(s)",
    "l = TensorListScatter(f32[2,2] seq; i32[2] 1 0; i32[1] 2)\nn = TensorListLength(l)",
    "l = TensorListScatterV2(f32[2,2] seq; i32[2] 1 0; i32[1] 2; i32[] 4)\nn = TensorListLength(l)",
    "l = TensorListSplit(f32[3,2] seq; i32[2] -1 2; i64[2] 1 2)\nn = TensorListLength(l)",
    ACCUMULATED "s = AccumulatorSetGlobalStep(a; i64[] 1)\ng = AccumulatorApplyGradient(a; i64[] 1; f32[2] 1 2; ^s)\n"
                "n = AccumulatorNumAccumulated(a; ^g)\nt = AccumulatorTakeGradient(a; i32[] 1; ^n) dtype=float",
    ACCUMULATED_RESOURCE
    "s = ResourceAccumulatorSetGlobalStep(a; i64[] 1)\ng = ResourceAccumulatorApplyGradient(a; i64[] 1; f32[2] 1 2; "
    "^s)\n"
    "n = ResourceAccumulatorNumAccumulated(a; ^g)\nt = ResourceAccumulatorTakeGradient(a; i32[] 1; ^n) dtype=float",
    "a = SparseConditionalAccumulator() dtype=float shape=[-1,2]\n"
    "g = SparseAccumulatorApplyGradient(a; i64[] 0; i64[2] 0 2; f32[2,2] 1 2 3 4; i64[2] 3 2) has_known_shape=true\n"
    "t = SparseAccumulatorTakeGradient(a; i32[] 1; ^g) dtype=float",
    GROWN_TREES "s = BoostedTreesSerializeEnsemble(t; ^u)\nd = BoostedTreesDeserializeEnsemble(t; s; s:1)\n"
                "g = BoostedTreesGetEnsembleStates(t; ^d)\ni = IsBoostedTreesEnsembleInitialized(t; ^g)",
    GROWN_TREES "p = BoostedTreesPredict(t; i32[3] 0 1 2; ^u) logits_dimension=1\n"
                "e = BoostedTreesExampleDebugOutputs(t; i32[3] 0 1 2; ^p) logits_dimension=1\n"
                "x = BoostedTreesTrainingPredict(t; i32[3] 0 0 0; i32[3] 0 0 0; i32[3] 0 1 2; ^e) logits_dimension=1",
    TREES "b = BoostedTreesCenterBias(t; f32[1,1] 1; f32[1,1] 2; f32[] 0; f32[] 0; ^c)",
    TREES
    "u = BoostedTreesUpdateEnsembleV2(t; i32[1] 0; i32[1] 0; i32[1] 0; f32[1] 1; i32[1] 1; f32[1,1] 1; f32[1,1] 2; "
    "str[1] \"inequality\"; i32[] 3; f32[] 0.1; i32[] 0; ^c) num_features=1 num_groups=1",
    QUANTILES "f = BoostedTreesFlushQuantileSummaries(q; ^a) num_features=1\n"
              "i = IsBoostedTreesQuantileStreamResourceInitialized(q; ^f)",
    QUANTILES "f = BoostedTreesQuantileStreamResourceFlush(q; i64[] 2; ^a)\n"
              "b = BoostedTreesQuantileStreamResourceGetBucketBoundaries(q; ^f) num_features=1\n"
              "d = BoostedTreesQuantileStreamResourceDeserialize(q; b)",
    "p = PartitionedCall(f32[2] 1 2) Tout=[float] f=@double",
    "p = StatefulPartitionedCall(f32[2] 1 2) Tout=[float] f=@halve",
    "p = SymbolicGradient(f32[2] 1 2; f32[2] 1 1) Tout=[float] f=@double",
    "p = StatelessIf(bool[] true; f32[2] 1 2) Tout=[float] then_branch=@double else_branch=@halve",
    "p = If(bool[] false; f32[2] 1 2) Tout=[float] then_branch=@double else_branch=@halve",
    "p = For(i32[] 0; i32[] 3; i32[] 1; f32[2] 1 2) body=@scale",
    "r = GenerateVocabRemapping(str[] \"vocab.txt\"; str[] \"vocab.txt\") new_vocab_offset=0 num_new_vocab=2",
    "s = SaveV2(str[] \"ckpt/w\"; str[1] \"m\"; str[1] \"\"; f32[3,2] seq)\n"
    "r = LoadAndRemapMatrix(str[] \"ckpt/w\"; str[] \"m\"; i64[2] 2 0; i64[2] 1 0; f32[0]; ^s) num_rows=2 num_cols=2",
    "p = StatelessWhile(i32[] 0; f32[2] 1 2) cond=@below_three body=@step",
    "p = While(i32[] 0; f32[2] 1 2) cond=@below_three body=@step",
    "p = StatelessCase(i32[] 1; f32[2] 1 2) Tout=[float] branches=@double,halve",
    "p = Case(i32[] 0; f32[2] 1 2) Tout=[float] branches=@double,halve", "p = FakeParam() dtype=float shape=[2]",
    "s = SaveV2(str[] \"ckpt/m\"; str[2] \"a\" \"b\"; str[2] \"\"; f32[2] 1 2; i64[] 7)\n"
    "r = RestoreV2(str[] \"ckpt/m\"; str[2] \"b\" \"a\"; str[2] \"\"; ^s) dtypes=[int64,float]",
    "s = SaveV2(str[] \"part/x\"; str[1] \"a\"; str[1] \"4 0,2\"; f32[2] 1 2)\n"
    "t = SaveV2(str[] \"part/y\"; str[1] \"a\"; str[1] \"4 2,2\"; f32[2] 1 2)\n"
    "m = MergeV2Checkpoints(str[2] \"part/x\" \"part/y\"; str[] \"part/m\"; ^s; ^t)",
    "s = Save(str[] \"old1\"; str[1] \"a\"; f32[2] 1 2)\nr = Restore(str[] \"old1\"; str[] \"a\"; ^s) dt=float",
    "s = SaveSlices(str[] \"old2\"; str[1] \"a\"; str[1] \"4 0,2\"; f32[2] 1 2)\n"
    "r = RestoreSlice(str[] \"old2\"; str[] \"a\"; str[] \"4 0,2\"; ^s) dt=float",
    "w = WriteFile(str[] \"written\"; str[] \"text\")\nr = ReadFile(str[] \"written\"; ^w)",
    "s = SerializeTensor(f32[2] 1 2)\np = ParseTensor(s) out_type=float", "a = Abort() error_msg='x'",
    "p = PlaceholderV2() dtype=float shape=[2]", "p = PyFunc(f32[2] 1 2) token='t' Tout=[float]",
    "p = PyFuncStateless(f32[2] 1 2) token='t' Tout=[float]", "p = EagerPyFunc(f32[2] 1 2) token='t' Tout=[float]",
    "c = Const() dtype=float", "v = VariableV2() dtype=float shape=[2]\na = Assign(v; f32[2] 1 2)",
    "v = Variable() dtype=float shape=[2]\na = Assign(v; f32[2] 1 2)",
    "v = VarHandleOp() dtype=float shape=[2]\na = AssignVariableOp(v; f32[2] 1 2)\nd = DestroyResourceOp(v; ^a)",
    "x = _Send(f32[2] 1 2) tensor_name='x' send_device='/job:localhost/replica:0/task:0/device:CPU:0' "
    "send_device_incarnation=1 recv_device='/job:localhost/replica:0/task:0/device:CPU:0'\n"
    "y = _Recv() tensor_type=float tensor_name='x' send_device='/job:localhost/replica:0/task:0/device:CPU:0' "
    "send_device_incarnation=1 recv_device='/job:localhost/replica:0/task:0/device:CPU:0'",
    "x = _HostSend(f32[2] 1 2) tensor_name='h' send_device='/job:localhost/replica:0/task:0/device:CPU:0' "
    "send_device_incarnation=1 recv_device='/job:localhost/replica:0/task:0/device:CPU:0'\n"
    "y = _HostRecv() tensor_type=float tensor_name='h' send_device='/job:localhost/replica:0/task:0/device:CPU:0' "
    "send_device_incarnation=1 recv_device='/job:localhost/replica:0/task:0/device:CPU:0'",
    "s = Switch(f32[2] 1 2; bool[] true)\nm = Merge(s:0; s:1)",
    "v = VariableV2() dtype=float shape=[2]\na = Assign(v; f32[2] 1 2)\ns = RefSwitch(v; bool[] true; ^a)\n"
    "m = RefMerge(s:0; s:1)",
    "e = Enter(f32[2] 1 2) frame_name='f'\nx = Exit(e)",
    "v = VariableV2() dtype=float shape=[2]\na = Assign(v; f32[2] 1 2)\ne = RefEnter(v; ^a) frame_name='f'\nx = "
    "RefExit(e)",
    "v = VariableV2() dtype=float shape=[2]\na = Assign(v; f32[2] 1 2)\ne = RefEnter(v; ^a) frame_name='f'\n"
    "n = RefNextIteration(e)",
    "v = VariableV2() dtype=float shape=[2]\na = Assign(v; f32[2] 1 2)\nn = RefNextIteration(v; ^a)",
    "e = Enter(f32[2] 1 2) frame_name='f'\nn = NextIteration(e)", "l = LoopCond(bool[] true)", "c = ControlTrigger()",
    "r = _Retval(f32[2] 1 2) index=0", "o = _Arg() T=float index=0",
    "q = QuantizeV2(f32[3] 1 2 3; f32[] 0; f32[] 4) T=quint8\nd = Dequantize(q; q:1; q:2)",
    "q = QuantizeV2(f32[3] 1 2 3; f32[] -4; f32[] 4) T=qint8 mode='SCALED'\nd = Dequantize(q; q:1; q:2) mode='SCALED'",
    "m = AddSparseToTensorsMap(i64[2,1] 0 2; f32[2] 1 2; i64[1] 4) shared_name='m'",
    "m = AddManySparseToTensorsMap(i64[2,2] 0 1 1 0; f32[2] 1 2; i64[2] 2 3) shared_name='m'\n"
    "t = TakeManySparseFromTensorsMap(m) dtype=float shared_name='m'",
    "p = OptionalFromValue(f32[2] 1 2)\nh = OptionalHasValue(p)\nv = OptionalGetValue(p) output_types=[float] "
    "output_shapes=[[2]]",
    /* variants with tensors */
    "v = RaggedTensorToVariant(i64[4] 0 2 2 5; f32[5] 1 2 3 4 5) RAGGED_RANK=1 batched_input=true\n"
    "x = RaggedTensorFromVariant(v) input_ragged_rank=0 output_ragged_rank=1 Tvalues=float Tsplits=int64\n"
    "y = RaggedTensorToVariantGradient(v; i64[4] 0 2 2 5; i32[1] 5) Tvalues=float",
    "v = RaggedTensorToVariant(i64[3] 0 1 3; i32[4] 0 2 2 5; str[5] \"a\" \"b\" \"c\" \"d\" \"e\") RAGGED_RANK=2 "
    "batched_input=false",
    "v = SerializeManySparse(i64[2,2] 0 1 2 0; f32[2] 1 2; i64[2] 3 2) out_type=variant\n"
    "x = DeserializeSparse(v) dtype=float Tserialized=variant",
    "v = CompressElement(i64[2] 1 2; str[] \"a\")\nx = UncompressElement(v) output_types=[int64,string] "
    "output_shapes=[[2],[]]",
    /* data sets that read, cut and choose */
    RANGE
    "x = DenseToSparseBatchDataset(d; i64[] 4; i64[0]) output_types=[variant] output_shapes=[[3]]\n" COUNTED_VARIANTS,
    "x = SparseTensorSliceDataset(i64[2,2] 0 1 2 0; f32[2] 1 2; i64[2] 3 2)\nn = DatasetCardinality(x)",
    RANGE "b = BatchDataset(d; i64[] 4)" VECTORS "x = RebatchDataset(b; i64[] 3)" VECTORS COUNTED,
    RANGE "b = BatchDataset(d; i64[] 4)" VECTORS "x = RebatchDatasetV2(b; i64[2] 3 1; bool[] false)" VECTORS COUNTED,
    OVER_RANGE("SlidingWindowDataset", "; i64[] 3; i64[] 2; i64[] 1", VECTORS),
    OVER_RANGE("SamplingDataset", "; f32[] 0.5; i64[] 1; i64[] 2", SCALARS),
    OVER_RANGE("AssertNextDataset", "; str[1] \"Take\"", SCALARS),
    OVER_RANGE("AssertPrevDataset", "; str[1] \"name: 'RangeDataset'\"", SCALARS),
    "x = ListDataset(i64[] 1; i64[] 2)" SCALARS COUNTED, "x = MatchingFilesDataset(str[1] \"*.txt\")\n" COUNTED_STRINGS,
    RANGE "x = GetElementAtIndex(d; i64[] 3)" SCALARS "b = ComputeBatchSize(d)",
    "d = TensorSliceDataset(str[2] \"\" \"\") Toutput_types=[string] output_shapes=[[]]\n"
    "b = BatchDataset(d; i64[] 2) output_types=[string] output_shapes=[[-1]]\n"
    "x = ParseExampleDatasetV2(b; i64[] 1; i64[] 3) sparse_keys=[] dense_keys=['a'] sparse_types=[] "
    "dense_shapes=[[]]" VECTORS COUNTED,
    "p = OptionalNone()\nh = OptionalHasValue(p)",
    /* the older names of data sets */
    OVER_RANGE("ExperimentalMaxIntraOpParallelismDataset", "; i64[] 2", SCALARS),
    OVER_RANGE("ExperimentalPrivateThreadPoolDataset", "; i64[] 2", SCALARS),
    OVER_RANGE("ExperimentalNonSerializableDataset", "", SCALARS),
    OVER_RANGE("ExperimentalIgnoreErrorsDataset", "", SCALARS),
    OVER_RANGE("ExperimentalMapDataset", "", " f=@add_one" NO_ARGS SCALARS),
    OVER_RANGE("ParallelFilterDataset", "; i64[] 2", " predicate=@is_even" NO_ARGS SCALARS),
    OVER_RANGE("ExperimentalTakeWhileDataset", "", " predicate=@small" NO_ARGS SCALARS),
    OVER_RANGE("ExperimentalScanDataset", "; i64[] 1", " f=@scan Tstate=[int64]" NO_ARGS SCALARS),
    OVER_RANGE("ExperimentalAssertNextDataset", "; str[1] \"Take\"", SCALARS),
    OVER_RANGE("ExperimentalSlidingWindowDataset", "; i64[] 3; i64[] 2; i64[] 1", VECTORS),
    OVER_RANGE("ExperimentalGroupByWindowDataset", "",
               " key_func=@parity reduce_func=@batch_window window_size_func=@two Tkey_func_other_arguments=[] "
               "Treduce_func_other_arguments=[] Twindow_size_func_other_arguments=[]" VECTORS),
    OVER_RANGE("AutoShardDataset", "; i64[] 2; i64[] 1", SCALARS),
    OVER_RANGE("ExperimentalAutoShardDataset", "; i64[] 2; i64[] 1", SCALARS),
    RANGE "b = BatchDataset(d; i64[] 4)" VECTORS "x = ExperimentalRebatchDataset(b; i64[] 3)" VECTORS COUNTED,
    RANGE "x = ChooseFastestDataset(d; d) N=2 num_experiments=2" SCALARS COUNTED,
    RANGE "x = ExperimentalChooseFastestDataset(d; d) N=2 num_experiments=2" SCALARS COUNTED,
    RANGE "p = ThreadPoolHandle() num_threads=2 display_name='p'\nx = ThreadPoolDataset(d; p)" SCALARS COUNTED,
    RANGE
    "p = ExperimentalThreadPoolHandle() num_threads=2 display_name='p'\nx = ExperimentalThreadPoolDataset(d; p)" SCALARS
        COUNTED,
    "x = ExperimentalMatchingFilesDataset(str[1] \"*.txt\")\n" COUNTED_STRINGS,
    RANGE "x = ExperimentalDenseToSparseBatchDataset(d; i64[] 4; i64[0]) output_types=[variant] "
          "output_shapes=[[3]]\n" COUNTED_VARIANTS,
    "g = DummySeedGenerator()\nx = RandomDatasetV2(i64[] 1; i64[] 2; g)" SCALARS COUNTED,
    "g = DummyIterationCounter()\nx = Identity(g)",
    RANGE "i = IteratorV2() shared_name='' container=''" SCALARS
          "m = MakeIterator(d; i)\no = IteratorGetNextAsOptional(i; ^m)" SCALARS "h = OptionalHasValue(o)",
    RANGE "i = IteratorV2() shared_name='' container=''" SCALARS
          "m = MakeIterator(d; i)\ns = SerializeIterator(i; ^m)\nr = DeserializeIterator(i; s)\n"
          "n = IteratorGetNext(i; ^r)" SCALARS,
    RANGE "i = IteratorV2() shared_name='' container=''" SCALARS "m = MakeIterator(d; i)\nx = IteratorGetDevice(i; ^m)",
    /* summaries */
    WRITER "s = WriteScalarSummary(w; i64[] 1; str[] \"a\"; f32[] 2; ^c)\n"
           "h = WriteHistogramSummary(w; i64[] 1; str[] \"b\"; f32[3] 1 2 3; ^s)\nf = FlushSummaryWriter(w; ^h)\n"
           "e = CloseSummaryWriter(w; ^f)",
    WRITER "i = WriteImageSummary(w; i64[] 1; str[] \"a\"; u8[1,2,2,1] 1; u8[4] 255 0 0 255; ^c)\n"
           "a = WriteAudioSummary(w; i64[] 1; str[] \"b\"; f32[1,8] 0.5; f32[] 100; ^i)\nf = FlushSummaryWriter(w; ^a)",
    WRITER "s = WriteSummary(w; i64[] 1; f32[2] 1 2; str[] \"a\"; str[] \"\"; ^c)\n"
           "r = WriteRawProtoSummary(w; i64[] 1; str[] \"\"; ^s)\ng = WriteGraphSummary(w; i64[] 1; str[] \"\"; ^r)\n"
           "e = ImportEvent(w; str[] \"\"; ^g)",
    /* collective ops of one device */
    "x = CollectiveReduce(f32[2] 1 2) group_size=1 group_key=1 instance_key=1 merge_op='Add' final_op='Id' "
    "subdiv_offsets=[0]",
    "x = CollectiveGather(f32[2] 1 2) group_size=1 group_key=1 instance_key=2 shape=[2]",
    "x = CollectiveBcastSend(f32[2] 1 2) group_size=1 group_key=1 instance_key=3 shape=[2]",
    "x = CollectiveReduceV2(f32[2] 1 2; i32[] 1; i32[] 1; i32[] 4) merge_op='Add' final_op='Id' Nordering_token=0",
    "x = CollectiveGatherV2(f32[2] 1 2; i32[] 1; i32[] 1; i32[] 5) Nordering_token=0",
    "x = CollectiveBcastSendV2(f32[2] 1 2; i32[] 1; i32[] 1; i32[] 6)",
    /* data sets */
    RANGE "i = IteratorV2() shared_name='' container=''" SCALARS
          "m = MakeIterator(d; i)\nn = IteratorGetNext(i; ^m)" SCALARS,
    RANGE "i = Iterator() shared_name='' container=''" SCALARS
          "m = MakeIterator(d; i)\nn = IteratorGetNextSync(i; ^m)" SCALARS,
    "i = OneShotIterator() dataset_factory=@make_range" SCALARS "n = IteratorGetNext(i)" SCALARS,
    RANGE "i = IteratorV2() shared_name='' container=''" SCALARS
          "m = MakeIterator(d; i)\ns = IteratorToStringHandle(i; ^m)\n"
          "j = IteratorFromStringHandleV2(s)" SCALARS "n = IteratorGetNext(j)" SCALARS,
    RANGE "i = IteratorV2() shared_name='' container=''" SCALARS
          "m = MakeIterator(d; i)\ns = IteratorToStringHandle(i; ^m)\n"
          "j = IteratorFromStringHandle(s)" SCALARS "n = IteratorGetNext(j)" SCALARS,
    "d = TensorDataset(i64[] 7) output_shapes=[[]]\nn = DatasetToSingleElement(d)" SCALARS,
    "x = TensorSliceDataset(i64[3] 7 8 9) output_shapes=[[]]\n" COUNTED,
    OVER_RANGE("BatchDataset", "; i64[] 2", VECTORS), OVER_RANGE("BatchDatasetV2", "; i64[] 2; bool[] true", VECTORS),
    OVER_RANGE("ParallelBatchDataset", "; i64[] 2; i64[] 2; bool[] false", VECTORS),
    OVER_RANGE("MapAndBatchDataset", "; i64[] 2; i64[] 2; bool[] false", " f=@add_one" NO_ARGS VECTORS),
    OVER_RANGE("ExperimentalMapAndBatchDataset", "; i64[] 2; i64[] 2; bool[] false", " f=@add_one" NO_ARGS VECTORS),
    RANGE
    "b = BatchDataset(d; i64[] 2)" VECTORS
    "x = PaddedBatchDataset(b; i64[] 2; i64[1] 3; i64[] -1) N=1 Toutput_types=[int64] output_shapes=[[-1,3]]\n" COUNTED,
    RANGE "b = BatchDataset(d; i64[] 2)" VECTORS "x = PaddedBatchDatasetV2(b; i64[] 2; i64[1] -1; i64[] -1; bool[] "
          "false) N=1 Toutput_types=[int64] output_shapes=[[-1,-1]]\n" COUNTED,
    RANGE "b = BatchDataset(d; i64[] 2)" VECTORS "x = UnbatchDataset(b)" SCALARS COUNTED,
    RANGE "b = BatchDataset(d; i64[] 2)" VECTORS "x = ExperimentalUnbatchDataset(b)" SCALARS COUNTED,
    OVER_RANGE("OptionsDataset", "", " serialized_options=''" SCALARS),
    OVER_RANGE("OptimizeDataset", "; str[1] \"a\"", SCALARS),
    OVER_RANGE("OptimizeDatasetV2", "; str[1] \"a\"; str[1] \"b\"; str[1] \"c\"", SCALARS),
    OVER_RANGE("ModelDataset", "", SCALARS), OVER_RANGE("FinalizeDataset", "", SCALARS),
    OVER_RANGE("MaxIntraOpParallelismDataset", "; i64[] 2", SCALARS),
    OVER_RANGE("PrivateThreadPoolDataset", "; i64[] 2", SCALARS), OVER_RANGE("NonSerializableDataset", "", SCALARS),
    OVER_RANGE("AssertCardinalityDataset", "; i64[] 6", SCALARS),
    OVER_RANGE("RewriteDataset", "; str[] \"a\"", SCALARS), OVER_RANGE("UniqueDataset", "", SCALARS),
    OVER_RANGE("ExperimentalUniqueDataset", "", SCALARS), RANGE "n = DatasetCardinality(d)",
    RANGE "n = ExperimentalDatasetCardinality(d)",
    RANGE "s = RangeDataset(i64[] 0; i64[] 2; i64[] 1)" SCALARS
          "x = DirectedInterleaveDataset(s; d; d) N=2" SCALARS COUNTED,
    RANGE "s = RangeDataset(i64[] 0; i64[] 2; i64[] 1)" SCALARS
          "x = ExperimentalDirectedInterleaveDataset(s; d; d) N=2" SCALARS COUNTED,
    "x = RandomDataset(i64[] 1; i64[] 2)" SCALARS COUNTED,
    "x = ExperimentalRandomDataset(i64[] 1; i64[] 2)" SCALARS COUNTED,
    OVER_RANGE("GroupByReducerDataset", "", REDUCER SCALARS),
    OVER_RANGE("ExperimentalGroupByReducerDataset", "", REDUCER SCALARS), CSV_GRAPH("CSVDataset", ""),
    CSV_GRAPH("ExperimentalCSVDataset", ""), CSV_GRAPH("CSVDatasetV2", "; i64[0]"),
    "j = EncodeJpeg(u8[4,4,3] seq)\nx = DecodeAndCropJpeg(j; i32[4] 0 0 2 2)",
    "j = EncodeJpeg(u8[4,4,3] seq)\nx = ExtractJpegShape(j)",
    "s = SerializeSparse(i64[1,2] 0 1; f32[1] 2; i64[2] 2 2)\nx = DeserializeSparse(s) dtype=float",
    "s = SerializeManySparse(i64[1,2] 0 1; f32[1] 2; i64[2] 2 2)\nx = DeserializeManySparse(s) dtype=float",
    "x = ParseSingleSequenceExample(str[] \"\"; str[0]; str[] \"a\"; i64[] 3; str[] \"\") Ncontext_sparse=0 "
    "Ncontext_dense=1 "
    "Nfeature_list_sparse=0 Nfeature_list_dense=0 Tcontext_dense=[int64] context_dense_shapes=[[]]",
    "x = ParseSequenceExample(str[2] \"\" \"\"; str[0]; i64[] 3) feature_list_dense_missing_assumed_empty=[] "
    "context_sparse_keys=[] context_dense_keys=['a'] feature_list_sparse_keys=[] feature_list_dense_keys=[] "
    "Ncontext_dense=1 Tcontext_dense=[int64] context_dense_shapes=[[]]",
    "x = ParseSequenceExampleV2(str[2] \"\" \"\"; str[0]; str[0]; str[1] \"a\"; str[0]; str[0]; str[0]; str[0]; "
    "bool[0]; "
    "i64[] 3) Tcontext_dense=[int64] context_dense_shapes=[[]]",
    DENSE_TABLE("MutableDenseHashTableV2", "V2"), DENSE_TABLE("MutableDenseHashTable", ""),
    DENSE_TABLE("AnonymousMutableDenseHashTable", "V2"),
    "v = TemporaryVariable() dtype=float shape=[2] var_name='t'\na = Assign(v; f32[2] 1 2)\n"
    "x = DestroyTemporaryVariable(a) var_name='t'",
    BARRIER "n = BarrierReadySize(b; ^j)\nm = BarrierIncompleteSize(b; ^n)\n"
            "x = BarrierTakeMany(b; i32[] 1; ^m) component_types=[float,int32]",
    BARRIER "c = BarrierClose(b; ^j)\n"
            "x = BarrierTakeMany(b; i32[] 3; ^c) component_types=[float,int32] allow_small_batch=true",
    "h = GetSessionHandle(f32[2] 1 2)\nx = GetSessionTensor(h) dtype=float\nd = DeleteSessionTensor(h; ^x)",
    "e = EmptyTensorMap()\nm = TensorMapInsert(e; str[] \"a\"; f32[2] 1 2)\nx = TensorMapLookup(m; str[] \"a\") "
    "value_dtype=float\nh = TensorMapHasKey(m; str[] \"b\")\nk = TensorMapStackKeys(m) key_dtype=string",
    "e = EmptyTensorMap()\nm = TensorMapInsert(e; i32[2] 1 2; f32[2] 1 2)\nd = TensorMapErase(m; i32[2] 1 2) "
    "value_dtype=float\nn = TensorMapSize(d)",
    "m = MutexV2() shared_name='m'\nl = MutexLock(m)\nc = ConsumeMutexLock(l)",
    "s = Stage(f32[2] 1 2) dtypes=[float] shared_name='a'\nn = StageSize(^s) dtypes=[float] shared_name='a'\n"
    "p = StagePeek(i32[] 0; ^n) dtypes=[float] shared_name='a'\nx = Unstage(^p) dtypes=[float] shared_name='a'\n"
    "c = StageClear(^x) dtypes=[float] shared_name='a'",
    STAGED_MAP("Map"), STAGED_MAP("OrderedMap"),
    RANGE "w = WrapDatasetVariant(d)\nx = UnwrapDatasetVariant(w)\n" COUNTED,
    OVER_RANGE("FlatMapDataset", "", " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("InterleaveDataset", "; i64[] 2; i64[] 2", " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("ParallelInterleaveDataset", "; i64[] 2; i64[] 2; bool[] false; i64[] 2; i64[] 2",
               " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("ExperimentalParallelInterleaveDataset", "; i64[] 2; i64[] 2; bool[] false; i64[] 2; i64[] 2",
               " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("LegacyParallelInterleaveDatasetV2", "; i64[] 2; i64[] 2; i64[] 2; i64[] 2",
               " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("ParallelInterleaveDatasetV2", "; i64[] 2; i64[] 2; i64[] 2", " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("ParallelInterleaveDatasetV3", "; i64[] 2; i64[] 2; i64[] 2", " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("ParallelInterleaveDatasetV4", "; i64[] 2; i64[] 2; i64[] 2; i64[] 2; i64[] 2",
               " f=@to_range" NO_ARGS SCALARS),
    OVER_RANGE("GroupByWindowDataset", "",
               " key_func=@parity reduce_func=@batch_window window_size_func=@two Tkey_func_other_arguments=[] "
               "Treduce_func_other_arguments=[] Twindow_size_func_other_arguments=[]" VECTORS),
    OVER_RANGE("IgnoreErrorsDataset", "", SCALARS), OVER_RANGE("MapDataset", "", " f=@add_one" NO_ARGS SCALARS),
    OVER_RANGE("ParallelMapDataset", "; i32[] 2", " f=@add_one" NO_ARGS SCALARS),
    OVER_RANGE("ParallelMapDatasetV2", "; i64[] 2", " f=@add_one" NO_ARGS SCALARS),
    OVER_RANGE("FilterDataset", "", " predicate=@is_even" NO_ARGS SCALARS),
    OVER_RANGE("TakeWhileDataset", "", " predicate=@small" NO_ARGS SCALARS),
    OVER_RANGE("ScanDataset", "; i64[] 1", " f=@scan Tstate=[int64]" NO_ARGS SCALARS), STATS("", "", "LatencyStats"),
    STATS("", "", "BytesProducedStats"), STATS("Experimental", "", "LatencyStats"),
    STATS("Experimental", "", "BytesProducedStats"),
    WRITER "a = StatsAggregatorHandleV2() shared_name='a'\nj = StatsAggregatorSetSummaryWriter(a; w; ^c)",
    "x = DecodeProtoV2(str[2] \"\" \"\") message_type='tensorflow.Example' field_names=['features'] "
    "output_types=[string]",
    "x = EncodeProto(i32[2,1] 1 1; str[2,1] \"\" \"\") message_type='tensorflow.Example' field_names=['features']",
    RANGE "o = GetOptions(d)", RANGE "s = SaveDataset(d; str[] \"saved\") shard_func=@parity Tshard_func_args=[]",
    OVER_RANGE("SaveDatasetV2", "; str[] \"saved2\"", " shard_func=@parity Tshard_func_args=[]" SCALARS),
    OVER_RANGE("SnapshotDatasetV2", "; str[] \"snap\"",
               " hash=1 hash_valid=true reader_func=@flat shard_func=@parity Treader_func_args=[] "
               "Tshard_func_args=[]" SCALARS),
    RANGE "s = SaveDataset(d; str[] \"saved3\") shard_func=@parity Tshard_func_args=[]\n"
          "x = LoadDataset(str[] \"saved3\"; ^s) reader_func=@flat Treader_func_args=[]" SCALARS COUNTED,
    RANGE "x = SnapshotNestedDatasetReader(d; d) N=2 output_types=[variant] output_shapes=[[]]\n" COUNTED_VARIANTS,
    "x = WindowOp(i64[] 1; i64[] 2) Tinputs=[int64,int64]" SCALARS COUNTED,
    "v = CompositeTensorVariantFromComponents(f32[2] 1 2; str[] \"a\") metadata=''\n"
    "x = CompositeTensorVariantToComponents(v) metadata='' Tcomponents=[float,string]",
    "x = RecordInput() file_pattern='data.tfrecord' batch_size=2",
    "q = FIFOQueueV2() component_types=[float] shapes=[[]] shared_name='fq'\nf = FakeQueue(q)\nx = QueueSize(f)",
    OVER_RANGE("RepeatDataset", "; i64[] -1", SCALARS), OVER_RANGE("TakeDataset", "; i64[] 3", SCALARS),
    OVER_RANGE("SkipDataset", "; i64[] 3", SCALARS), OVER_RANGE("ShardDataset", "; i64[] 2; i64[] 1", SCALARS),
    RANGE "x = ZipDataset(d)" SCALARS COUNTED, OVER_RANGE("ConcatenateDataset", "; d", SCALARS),
    OVER_RANGE("CacheDataset", "; str[] \"\"", SCALARS), OVER_RANGE("CacheDataset", "; str[] \"cached\"", SCALARS),
    RANGE "m = DummyMemoryCache()\nx = CacheDatasetV2(d; str[] \"\"; m)" SCALARS COUNTED,
    OVER_RANGE("PrefetchDataset", "; i64[] 2", SCALARS),
    OVER_RANGE("ShuffleDataset", "; i64[] 4; i64[] 1; i64[] 2", SCALARS),
    RANGE "g = DummySeedGenerator()\nx = ShuffleDatasetV3(d; i64[] 4; i64[] 1; i64[] 2; g)" SCALARS COUNTED,
    RANGE
    "g = DummySeedGenerator()\nx = ShuffleAndRepeatDatasetV2(d; i64[] 4; i64[] 1; i64[] 2; i64[] 2; g)" SCALARS COUNTED,
    OVER_RANGE("ShuffleAndRepeatDataset", "; i64[] 4; i64[] 1; i64[] 2; i64[] 2", SCALARS),
    RANGE "x = WindowDataset(d; i64[] 2; i64[] 1; i64[] 1; bool[] false) output_types=[variant] "
          "output_shapes=[[]]\n" COUNTED_VARIANTS,
    "x = GeneratorDataset() init_func=@three next_func=@add_one finalize_func=@add_one Tinit_func_args=[] "
    "Tnext_func_args=[] Tfinalize_func_args=[]" SCALARS COUNTED,
    "x = TFRecordDataset(str[1] \"data.tfrecord\"; str[] \"\"; i64[] 0)\n" COUNTED_STRINGS,
    "x = TFRecordDatasetV2(str[1] \"data.tfrecord\"; str[] \"\"; i64[] 100; i64[1] 0)\n" COUNTED_STRINGS,
    "x = TextLineDataset(str[1] \"text.txt\"; str[] \"\"; i64[] 0)\n" COUNTED_STRINGS,
    "x = FixedLengthRecordDataset(str[1] \"bytes.bin\"; i64[] 2; i64[] 4; i64[] 2; i64[] 0)\n" COUNTED_STRINGS,
    "x = FixedLengthRecordDatasetV2(str[1] \"bytes.bin\"; i64[] 2; i64[] 4; i64[] 2; i64[] 0; str[] "
    "\"\")\n" COUNTED_STRINGS,
    NULL};
